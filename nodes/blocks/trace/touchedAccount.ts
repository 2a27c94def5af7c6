/** An account that a block touched: its traces, and what else must be read from the node. */
import type {AccountDifference} from "../../../storage/block/accountDifference.ts";
import {fromHex} from "../../../storage/hex.ts";
import {parseBytes, parseQuantity, parseWord} from "../../rpc/answerValues.ts";
import type {NodeCall} from "../../rpc/node.ts";
import {hexQuantity} from "../linkedBlocks.ts";
import {AccountTimeline} from "./accountTimeline.ts";
import {type AccountTrace, type AccountView, isDelegation, isEmpty, MAX_CODE_BYTES} from "./accountTrace.ts";

/** A call to the node, and the receiver of its result. */
export interface StateQuery {
  readonly call: NodeCall;
  take(answer: unknown): void;
}

interface AccountState {
  nonce: bigint;
  balance: bigint;
  /** Only if it was read. */
  code?: Uint8Array;
}

const ACCOUNT_FIELDS = [
  ["nonce", "eth_getTransactionCount", 64],
  ["balance", "eth_getBalance", 256],
] as const;

export class TouchedAccount {
  /** The code after the block must be read. */
  readsCode = false;
  /** Nonce and balance after the block must be read, whatever the traces have. */
  readsState = false;
  /** Nonce and balance before the block must be read: the traces do not show for certain whether it was removed. */
  readsBefore = false;
  /** Read from the node, after the block and before it. */
  private readonly state: AccountState = {nonce: 0n, balance: 0n};
  private readonly stateBefore: AccountState = {nonce: 0n, balance: 0n};
  private readonly traces: AccountTrace[] = [];
  /** After the last trace. undefined: no trace has it. */
  private readonly traced: {nonce?: bigint | undefined; balance?: bigint | undefined} = {};
  /** Slots that may have been written outside of transactions. Read after the block and before it. */
  private readonly otherSlots = new Set<string>();
  /** Values that were read. */
  private readonly slots = new Map<string, string>();
  private readonly slotsBefore = new Map<string, string>();

  /** @param address - `0x` and 40 digits in lower case */
  constructor(private readonly address: string) {}

  /** The account exists only if it has code, which was not read. */
  get needsCode(): boolean {
    return this.state.code === undefined && isEmpty(this.state);
  }

  add(trace: AccountTrace): void {
    const {before, after, slots} = trace;
    this.traces.push(trace);
    this.note(trace);
    // In reth's stateDiff, a removed account may have no change.
    const isUnchanged = isUnknown(before) && isUnknown(after) && slots.size === 0;
    // In a stateDiff, a new account without nonce is not marked as new.
    const mayBeNew = typeof before === "object" && before.balance === 0n && before.nonce === undefined;
    if (typeof before === "string" || after === "removed" || isUnchanged || mayBeNew) this.readsBefore = true;
    // Traces leave out code that becomes empty, so a delegation that was cleared looks unchanged.
    if (
      after === "removed" ||
      isUnchanged ||
      delegates(before) ||
      delegates(after) ||
      trace.hidesCode === true
    )
      this.readsCode = true;
  }

  addSlot(slot: string): void {
    this.otherSlots.add(slot);
  }

  /** @param number - of the block. @returns calls for what the traces do not have */
  queryState(number: number): StateQuery[] {
    const queries = this.queryAccount(number, this.state, this.readsState ? undefined : this.traced);
    if (this.readsBefore) queries.push(...this.queryAccount(number - 1, this.stateBefore));
    if (this.readsCode) queries.push(this.queryCode(number));
    for (const slot of this.listOpenSlots()) queries.push(this.querySlot(slot, number, this.slots));
    for (const slot of this.otherSlots) queries.push(this.querySlot(slot, number - 1, this.slotsBefore));
    return queries;
  }

  queryCode(number: number): StateQuery {
    return this.ask("eth_getCode", [], number, (answer, where) => {
      this.state.code = parseBytes(answer, `${where}: code`, MAX_CODE_BYTES);
    });
  }

  /** Called once all results have arrived, including the code if it `needsCode`. */
  toDifference(): AccountDifference {
    const address = fromHex(this.address);
    const {nonce, balance, code} = this.state;
    if (isEmpty(this.state)) return {address, change: undefined};
    const timeline = new AccountTimeline(this.readsBefore ? this.stateBefore : undefined, this.traces);
    timeline.end(this.state);
    const read = (slot: string): string => this.slots.get(slot) as string;
    // Unchanged slots are left out, because they would cost pages: the request queues are empty in most blocks. But if
    // a trace has the slot, the value that was read takes precedence, because the end of the block resets the counters.
    for (const slot of this.otherSlots)
      if (timeline.wasRemoved || timeline.slots.has(slot) || read(slot) !== this.slotsBefore.get(slot))
        timeline.slots.set(slot, read(slot));
    const storage = [...timeline.slots].map(([slot, value]) => ({
      slot: fromHex(slot),
      value: fromHex(value ?? read(slot)),
    }));
    return {
      address,
      change: {reset: timeline.wasRemoved, nonce, balance, code: code ?? timeline.code, storage},
    };
  }

  private note({before, after}: AccountTrace): void {
    const {traced} = this;
    for (const field of ["nonce", "balance"] as const)
      if (after === "removed") traced[field] = undefined;
      else
        traced[field] = after[field] ?? (typeof before === "object" ? (before[field] ?? traced[field]) : 0n);
  }

  /** `0x` and 64 digits. */
  private listOpenSlots(): Set<string> {
    const open = new Set<string>();
    for (const {slots} of this.traces)
      for (const [slot, value] of slots)
        if (value === undefined) open.add(slot);
        else open.delete(slot);
    for (const slot of this.otherSlots) open.add(slot);
    return open;
  }

  /** @param traced - values from traces, which are not read */
  private queryAccount(number: number, state: AccountState, traced?: AccountView): StateQuery[] {
    return ACCOUNT_FIELDS.flatMap(([field, method, bits]) => {
      const known = traced?.[field];
      if (known === undefined)
        return this.ask(method, [], number, (answer, where) => {
          state[field] = parseQuantity(answer, `${where}: ${field}`, bits);
        });
      state[field] = known;
      return [];
    });
  }

  private querySlot(slot: string, number: number, slots: Map<string, string>): StateQuery {
    return this.ask("eth_getStorageAt", [slot], number, (answer, where) => {
      slots.set(slot, parseWord(answer, `${where}: slot ${slot}`));
    });
  }

  /** @param params - between the address and the block */
  private ask(
    method: string,
    params: readonly string[],
    number: number,
    take: (answer: unknown, where: string) => void,
  ): StateQuery {
    const where = `block ${number}: account ${this.address}`;
    return {
      call: {method, params: [this.address, ...params, hexQuantity(number)]},
      take: answer => take(answer, where),
    };
  }
}

function isUnknown(view: AccountView | string): boolean {
  return (
    typeof view === "object" &&
    view.nonce === undefined &&
    view.balance === undefined &&
    view.code === undefined
  );
}

function delegates(view: AccountView | string): boolean {
  return typeof view === "object" && view.code !== undefined && isDelegation(view.code);
}
