/** What crosses between the thread that executes blocks and the one that recovers their senders. */
import type {MessagePort} from "node:worker_threads";

export interface SenderThreadSettings {
  readonly port: MessagePort;
  /** At a request's id, modulo the length: that id, once its senders are of no more use. */
  readonly done: Int32Array;
  readonly chainId: bigint;
}

export interface SenderRequest {
  /** At least 1. */
  readonly id: number;
  /** RLP. */
  readonly block: Uint8Array;
}

/** One for each request, when the work on it begins. */
export interface SenderAnswer {
  readonly id: number;
  /** Of SharedSenders. It is empty if the block cannot be read, or was done before. */
  readonly senders: SharedArrayBuffer;
}
