/** A call that is not answered yet. It ends once: by its answer, an error, or its signal. */
import {encodeCall} from "./envelope.ts";
import type {RpcRequest} from "./rpcCaller.ts";

export class PendingCall {
  /** The call as JSON. */
  readonly text: string;
  readonly promise: Promise<unknown>;
  /** Called if the signal ends the call. */
  onGivenUp: () => void = () => {};
  isOpen = true;
  private settle: {resolve(result: unknown): void; reject(error: unknown): void} | undefined;

  constructor(
    readonly id: number,
    readonly request: RpcRequest,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.text = encodeCall(id, request.method, request.params);
    this.promise = new Promise((resolve, reject) => {
      this.settle = {resolve, reject};
    });
    signal?.addEventListener("abort", this.giveUp);
    if (signal?.aborted === true) this.giveUp();
  }

  resolve(result: unknown): void {
    this.close();
    this.settle?.resolve(result);
  }

  reject(error: unknown): void {
    this.close();
    this.settle?.reject(error);
  }

  private readonly giveUp = (): void => {
    this.reject(this.signal?.reason);
    this.onGivenUp();
  };

  private close(): void {
    this.isOpen = false;
    this.signal?.removeEventListener("abort", this.giveUp);
  }
}
