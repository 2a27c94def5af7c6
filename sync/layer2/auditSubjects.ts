/**
 * Finds accounts and slots that one block touched, by asking a node. The store has no addresses, only their hashes.
 *
 *   traces (trace/traceMethod.ts) all accounts and slots that its transactions changed
 *   eth_getBlockByNumber          the miner, senders, recipients, access lists, withdrawals
 *   eth_getBlockReceipts          new contracts, accounts that logged
 *
 * A node without traces or receipts gives fewer accounts. Without traces, the only slots are those of access lists.
 */

import {type JsonObject, parseArray, parseFixedBytes, parseObject} from "../rpc/answerValues.ts";
import {type Node, NodeRefusal} from "../rpc/node.ts";
import type {AuditSubject} from "./audit.ts";
import {parseTraces, probeTraces, traceCall} from "./trace/traceMethod.ts";

interface BlockSubjects {
  readonly subjects: readonly AuditSubject[];
  /** Calls that the node refused, with its reasons. */
  readonly refused: readonly string[];
}

/**
 * @returns no subjects if the node does not have the block
 * @throws NodeFailure if an answer is of no use; NodeRefusal if the node refuses eth_getBlockByNumber
 */
export async function findBlockSubjects(node: Node, block: number): Promise<BlockSubjects> {
  const at = `0x${block.toString(16)}`;
  const found = new Found();
  const whole = (await node.request("eth_getBlockByNumber", [at, true])) ?? undefined;
  if (whole === undefined) return {subjects: [], refused: []};
  noteBlock(found, whole);
  const refused: string[] = [];
  for (const note of [noteReceipts, noteTraces])
    try {
      refused.push(...[await note(found, node, at)].filter(why => why !== undefined));
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      refused.push(error.message);
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

/** @returns why it found nothing, if so */
async function noteReceipts(found: Found, node: Node, at: string): Promise<string | undefined> {
  const answer = (await node.request("eth_getBlockReceipts", [at])) ?? undefined;
  if (answer === undefined) return "eth_getBlockReceipts: the node has no receipts of the block";
  for (const entry of parseArray(answer, "the receipts")) {
    const receipt = parseObject(entry, "a receipt");
    noteOptional(found, receipt, ["contractAddress"]);
    for (const log of parseArray(receipt.logs ?? [], "logs"))
      noteOptional(found, parseObject(log, "a log"), ["address"]);
  }
  return undefined;
}

async function noteTraces(found: Found, node: Node, at: string): Promise<string | undefined> {
  const method = await probeTraces(node);
  if (typeof method !== "string") return `traces: ${method.why}`;
  const call = traceCall(method, at);
  for (const {accounts} of parseTraces(method, await node.request(call.method, call.params), "the traces"))
    for (const [address, {slots: changed}] of accounts) {
      const slots = found.account(address, "address of a trace");
      for (const slot of changed.keys()) found.slot(slots, slot, "a slot of a trace");
    }
  return undefined;
}

function noteOptional(found: Found, fields: JsonObject, names: readonly string[]): void {
  for (const name of names) if ((fields[name] ?? undefined) !== undefined) found.account(fields[name], name);
}
