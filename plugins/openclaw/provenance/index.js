export { provenance as default } from "../dist/index.js";
