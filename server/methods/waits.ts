/** Finds the calls of a request that must wait for their block, and makes ordinary calls of them when their waits are over. */
import type {Call} from "../rpc/envelope.ts";
import type {RpcError} from "../rpc/rpcError.ts";
import type {AwaitedBlock, RequestView, Waiting} from "./method.ts";
import type {MethodTable} from "./table.ts";

export interface FoundWait {
  readonly call: number;
  readonly block: AwaitedBlock;
}

export interface EndedWait extends FoundWait {
  /** The answer to the call. undefined: the call can be answered or refused now. */
  readonly error: RpcError | undefined;
}

export function findWaits(calls: readonly Call[], table: MethodTable, view: RequestView): FoundWait[] {
  const waits: FoundWait[] = [];
  for (let call = 0; call < calls.length; call++) {
    const {error, idText, method, params} = calls[call] as Call;
    // Notifications are not run.
    if (error !== undefined || idText === undefined) continue;
    const block = waitingOf(table, method)?.findBlock(params, view);
    if (block !== undefined) waits.push({call, block});
  }
  return waits;
}

/** @returns the calls, each of which can be answered or refused now */
export function endWaits(calls: readonly Call[], table: MethodTable, waits: readonly EndedWait[]): Call[] {
  const ended = [...calls];
  for (const {call: at, block, error} of waits) {
    const call = calls[at] as Call;
    const {method, params} = call;
    if (error !== undefined) ended[at] = {...call, error};
    else ended[at] = {...call, params: (waitingOf(table, method) as Waiting).pinBlock(params, block.number)};
  }
  return ended;
}

function waitingOf(table: MethodTable, name: string): Waiting | undefined {
  const method = table.find(name);
  return method?.lane === undefined ? undefined : method.waiting;
}
