/**
 * Finds accounts and slots that one block touched, by asking a node. The store has no addresses, only their hashes.
 *
 *   debug_traceBlockByNumber      all accounts and slots that its transactions changed (prestateTracer, diffMode)
 *   eth_getBlockByNumber          the miner, senders, recipients, access lists, withdrawals
 *   eth_getBlockReceipts          new contracts, accounts that logged
 *
 * A node that refuses the first or the last gives fewer: without a trace, only the slots of access lists.
 */
import {type Node, NodeRefusal} from "../rpc/node.ts";
import {type JsonObject, parseArray, parseFixedBytes, parseObject} from "./answerValues.ts";
import type {AuditSubject} from "./audit.ts";

const TRACER = {tracer: "prestateTracer", tracerConfig: {diffMode: true}};

export interface BlockSubjects {
  readonly subjects: readonly AuditSubject[];
  /** Calls that the node refused, with its reasons. */
  readonly refused: readonly string[];
}

/** @throws NodeFailure for answers of no use; NodeRefusal if the node refuses even the block */
export async function findBlockSubjects(node: Node, block: number): Promise<BlockSubjects> {
  const at = `0x${block.toString(16)}`;
  const found = new Found();
  const refused: string[] = [];
  noteBlock(found, await node.request("eth_getBlockByNumber", [at, true]));
  for (const {method, params, note} of [
    {method: "eth_getBlockReceipts", params: [at], note: noteReceipts},
    {method: "debug_traceBlockByNumber", params: [at, TRACER], note: noteTraces},
  ])
    try {
      note(found, await node.request(method, params));
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      refused.push(`${method}: ${error.message}`);
    }
  return {subjects: found.subjects(), refused};
}

/** Accounts with their slots, each once. */
class Found {
  private readonly slotsOf = new Map<string, Set<string>>();

  account(value: unknown, field: string): Set<string> {
    const address = parseFixedBytes(value, field, 20).toString("hex");
    const slots = this.slotsOf.get(address) ?? new Set();
    this.slotsOf.set(address, slots);
    return slots;
  }

  slot(slots: Set<string>, value: unknown, field: string): void {
    slots.add(parseFixedBytes(value, field, 32).toString("hex"));
  }

  subjects(): AuditSubject[] {
    return [...this.slotsOf].map(([address, slots]) => ({
      address: Buffer.from(address, "hex"),
      slots: [...slots].map(slot => Buffer.from(slot, "hex")),
    }));
  }
}

function noteBlock(found: Found, answer: unknown): void {
  const block = parseObject(answer, "the block");
  found.account(block.miner, "miner");
  for (const entry of parseArray(block.withdrawals ?? [], "withdrawals"))
    found.account(parseObject(entry, "a withdrawal").address, "address of a withdrawal");
  for (const entry of parseArray(block.transactions, "transactions")) {
    const transaction = parseObject(entry, "a transaction");
    noteOptional(found, transaction, ["from", "to"]);
    for (const item of parseArray(transaction.accessList ?? [], "an access list")) {
      const {address, storageKeys} = parseObject(item, "an entry of an access list");
      const slots = found.account(address, "address of an access list");
      for (const key of parseArray(storageKeys ?? [], "storageKeys"))
        found.slot(slots, key, "a key of an access list");
    }
  }
}

function noteReceipts(found: Found, answer: unknown): void {
  for (const entry of parseArray(answer, "the receipts")) {
    const receipt = parseObject(entry, "a receipt");
    noteOptional(found, receipt, ["contractAddress"]);
    for (const log of parseArray(receipt.logs ?? [], "logs"))
      noteOptional(found, parseObject(log, "a log"), ["address"]);
  }
}

function noteTraces(found: Found, answer: unknown): void {
  for (const entry of parseArray(answer, "the traces")) {
    const {pre, post} = parseObject(parseObject(entry, "a trace").result, "result of a trace");
    for (const side of [pre, post])
      for (const [address, account] of Object.entries(parseObject(side, "a side of a trace"))) {
        const slots = found.account(address, "address of a trace");
        const {storage} = parseObject(account, "an account of a trace");
        for (const slot of Object.keys(parseObject(storage ?? {}, "storage of a trace")))
          found.slot(slots, slot, "a slot of a trace");
      }
  }
}

function noteOptional(found: Found, fields: JsonObject, names: readonly string[]): void {
  for (const name of names) if ((fields[name] ?? undefined) !== undefined) found.account(fields[name], name);
}
