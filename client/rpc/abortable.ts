/** Promises that end early: when a caller's AbortSignal is aborted, or after a timeout. */
import {builtinModule} from "../bytes/runtime.ts";
import {RpcError} from "./rpcError.ts";

/** Resolves after this time. @throws the signal's reason */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  return orAborted(slept, signal).finally(() => clearTimeout(timer));
}

/** Stops waiting for a promise when the signal is aborted; its work continues. @throws the signal's reason */
export function orAborted<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, {once: true});
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * The outcome of some work, unless it takes too long or is aborted. Its signal is aborted when it ends in any way.
 *
 * @throws what the work throws; RpcError TIMEOUT with the name `what`; the signal's reason
 */
export async function within<Result>(
  ms: number,
  what: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const end = new LinkedStop(signal);
  const timer = setTimeout(
    () => end.stop(new RpcError("TIMEOUT", `${what} is not there after ${ms} ms`)),
    ms,
  );
  try {
    return await orAborted(work(end.signal), end.signal);
  } finally {
    clearTimeout(timer);
    end.stop(new Error("the work has ended"));
  }
}

interface ListenerLimits {
  setMaxListeners?(count: number, ...targets: readonly AbortSignal[]): void;
}

/**
 * A signal that is aborted with the first of several others, or when its owner stops it. The owner must stop it, which
 * removes its listeners. AbortSignal.any instead keeps memory for each use for as long as the other signals live.
 */
export class LinkedStop {
  private readonly controller = new AbortController();
  private readonly outer: readonly AbortSignal[];
  private readonly onAbort = (): void =>
    this.controller.abort(this.outer.find(({aborted}) => aborted)?.reason);

  constructor(...outer: readonly (AbortSignal | undefined)[]) {
    this.outer = outer.filter(signal => signal !== undefined);
    // Node warns of more than ten listeners of one signal. A pull has more calls, and a node more requests.
    builtinModule<ListenerLimits>("node:events")?.setMaxListeners?.(0, this.signal, ...this.outer);
    for (const signal of this.outer) signal.addEventListener("abort", this.onAbort);
    if (this.outer.some(({aborted}) => aborted)) this.onAbort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  stop(reason: Error): void {
    for (const signal of this.outer) signal.removeEventListener("abort", this.onAbort);
    this.controller.abort(reason);
  }
}
