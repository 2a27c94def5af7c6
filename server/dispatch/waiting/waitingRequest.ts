/** One HTTP request of which at least one call waits for its block to be finalized. None of its calls has run. */

import type {AwaitedBlock} from "../../methods/method.ts";
import type {EndedWait, FoundWait} from "../../methods/waits.ts";
import type {OpenReply} from "../../request/replySink.ts";
import type {RequestRecord} from "../../request/requestRecord.ts";
import type {Envelope} from "../../rpc/envelope.ts";
import type {RpcError} from "../../rpc/rpcError.ts";

/** One call of the request that waits, or has waited. */
export class WaitingCall implements EndedWait {
  readonly call: number;
  readonly block: AwaitedBlock;
  error: RpcError | undefined;
  isOver = false;
  /** Its deadline (deadlines.ts). */
  tick = 0;

  constructor(
    readonly request: WaitingRequest,
    {call, block}: FoundWait,
  ) {
    this.call = call;
    this.block = block;
  }
}

export class WaitingRequest {
  waits: readonly WaitingCall[];
  open: number;
  readonly startedMs = performance.now();
  settledMs = 0;
  /** The client has gone, or the request is answered. */
  isOver = false;

  /** @param waits - at least one */
  constructor(
    readonly record: RequestRecord,
    /** Limits are counted by client (http/clientAddress.ts). */
    readonly client: string,
    /** What was parsed of the body. It is not parsed again, however the wait ends. */
    public envelope: Envelope,
    readonly reply: OpenReply,
    waits: readonly FoundWait[],
  ) {
    this.waits = waits.map(wait => new WaitingCall(this, wait));
    this.open = waits.length;
  }

  /** Gives the memory of a request back that needs no answer, although it may still stand in a queue. */
  drop(): void {
    this.waits = [];
    this.envelope = NO_CALLS;
  }
}

const NO_CALLS: Envelope = {isBatch: false, calls: [], heldBytes: 0};
