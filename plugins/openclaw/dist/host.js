// The part of OpenClaw's plugin API (2026.9.6) that this plugin uses. It is written out
// here so that the plugin needs nothing but Node to build and to run.
export {};
