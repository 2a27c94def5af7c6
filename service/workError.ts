/** A command could not do its work. `message` is for the operator. */
export class WorkError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkError";
  }
}
