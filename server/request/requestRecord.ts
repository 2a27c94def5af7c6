/** One received HTTP request, for the request log and /metrics. */
export class RequestRecord {
  /** The method of its only call, or "batch". "unknown": there is no such method, or no call was read. */
  method = "unknown";
  calls = 0;
  /** As the limits count it (methods/demand.ts). */
  cost = 0;
  /** Error code of the first call that failed. 0: none has. */
  code = 0;
  /** Nothing of it ran, because it is above a limit. */
  isExcess = false;

  constructor(
    readonly id: string,
    readonly startedMs: number = performance.now(),
    readonly bodyBytes: number = 0,
    /** Address of the client. Read only for the request log. */
    readonly peer: string | undefined = undefined,
  ) {}

  noteCode(code: number): void {
    if (this.code === 0) this.code = code;
  }
}
