/** A command could not do its work. `message` is for the operator. */
export class WorkError extends Error {
  override readonly name = "WorkError";
}
