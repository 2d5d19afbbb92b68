/** TidemarkError: the monitor could not be asked or told. Nothing may run. */
export class TidemarkError extends Error {
  override name = "TidemarkError";
}

/** RefusedError: a call may not run. The text is for the model to read. */
export class RefusedError extends TidemarkError {
  override name = "RefusedError";
}

/** UndecidedError: a tool was about to run that the monitor was not asked about. */
export class UndecidedError extends TidemarkError {
  override name = "UndecidedError";
}
