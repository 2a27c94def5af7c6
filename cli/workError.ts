/** The work could not be done; `message` is for the operator. */
export class WorkError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkError";
  }
}
