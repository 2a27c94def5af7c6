/** Which slots of some contracts a block changed, from its traces and the rules of system contracts. */
import {toHex} from "../../../storage/hex.ts";
import type {Node} from "../../rpc/node.ts";
import type {TransactionTrace} from "../trace/accountTrace.ts";
import type {BlockBesidesTraces} from "../trace/blockBesidesTraces.ts";
import {MINIMAL_OPTIONS, parsePrestateTraces} from "../trace/prestateTrace.ts";
import {parseStateDiffTraces, STATE_DIFF_KINDS} from "../trace/stateDiffTrace.ts";
import {TraceMethods} from "../trace/traceMethod.ts";
import {listUntracedWrites, SYSTEM_CONTRACTS} from "../trace/untracedWrites.ts";

export class TraceSlots {
  private readonly methods = new TraceMethods();

  /** @param addresses - 0x text, in lower case */
  constructor(private readonly addresses: readonly string[]) {}

  /** @returns slots (0x and 64 digits) by address. @throws NodeFailure, NodeRefusal */
  async read(node: Node, block: BlockBesidesTraces): Promise<ReadonlyMap<string, string[]>> {
    const slots = new Map(this.addresses.map(address => [address, new Set<string>()]));
    for (const {accounts} of block.transactions.length === 0 ? [] : await this.ask(node, block))
      for (const [address, trace] of accounts)
        for (const slot of trace.slots.keys()) slots.get(address)?.add(slot);
    const contracts = SYSTEM_CONTRACTS.filter(({address}) => slots.has(address));
    for (const write of listUntracedWrites(block, contracts))
      for (const slot of write.slots) slots.get(write.address)?.add(slot);
    return new Map([...slots].map(([address, names]) => [address, [...names]]));
  }

  private async ask(node: Node, {header: {number, hash}}: BlockBesidesTraces): Promise<TransactionTrace[]> {
    const where = `the trace of block ${number}`;
    if ((await this.methods.of(node)) === "prestate") {
      // Nodes that do not know `disableCode` ignore it.
      const params = [toHex(hash), MINIMAL_OPTIONS];
      return parsePrestateTraces(await node.request("debug_traceBlockByHash", params), where);
    }
    const params = [`0x${number.toString(16)}`, STATE_DIFF_KINDS];
    return parseStateDiffTraces(await node.request("trace_replayBlockTransactions", params), where);
  }
}
