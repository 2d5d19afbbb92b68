// Package tidemark is a reference monitor for AI agents. See the README.
package tidemark
