/** An account that a block touched: what the traces say of it, and what must be read from the node besides. */
import type {AccountDifference} from "../../../storage/block/accountDifference.ts";
import {parseBytes, parseQuantity, parseWord} from "../../rpc/answerValues.ts";
import type {NodeCall} from "../../rpc/node.ts";
import {hexQuantity} from "../linkedBlocks.ts";
import {AccountTimeline} from "./accountTimeline.ts";
import {type AccountTrace, type AccountView, isDelegation, isEmpty, MAX_CODE_BYTES} from "./accountTrace.ts";

/** A call, and what takes its result. */
export interface Question {
  readonly call: NodeCall;
  take(answer: unknown): void;
}

interface AccountState {
  nonce: bigint;
  balance: bigint;
  /** Only if it was asked for. */
  code?: Uint8Array;
}

export class TouchedAccount {
  /** The code after the block is to be read. */
  readsCode = false;
  /** Nonce and balance after the block are to be read, whatever the traces say. */
  readsState = false;
  /**
   * Nonce and balance after the block before must be read, because the traces do not show for certain that it was
   * removed.
   */
  readsBefore = false;
  /** As the node has it after the block, and after the block before. */
  private readonly state: AccountState = {nonce: 0n, balance: 0n};
  private readonly stateBefore: AccountState = {nonce: 0n, balance: 0n};
  private readonly traces: AccountTrace[] = [];
  /** After the last trace. undefined: no trace says it. */
  private readonly said: {nonce: bigint | undefined; balance: bigint | undefined} = {
    nonce: undefined,
    balance: undefined,
  };
  /** Slots that something outside of transactions may have written. Read after the block and after the block before. */
  private readonly otherSlots = new Set<string>();
  /** Values that were read. */
  private readonly slots = new Map<string, string>();
  private readonly slotsBefore = new Map<string, string>();

  /** @param address - `0x` and 40 digits in lower case */
  constructor(private readonly address: string) {}

  /** Whether it has code decides whether it exists, and the code was not read. */
  get lacksCode(): boolean {
    return this.state.code === undefined && isEmpty(this.state);
  }

  /** Takes the trace of the next transaction. */
  add(trace: AccountTrace): void {
    const {before, after, slots} = trace;
    this.traces.push(trace);
    this.note(trace);
    // In reth's stateDiff, a removed account may stand without any change.
    const isSilent = isUnknown(before) && isUnknown(after) && slots.size === 0;
    // In a stateDiff, an account without nonce is not marked as new.
    const isPoor = typeof before === "object" && before.balance === 0n && before.nonce === undefined;
    if (typeof before === "string" || after === "gone" || isSilent || isPoor) this.readsBefore = true;
    // The trace leaves out code that is empty after the transaction. So a delegation that ended looks unchanged.
    if (after === "gone" || isSilent || delegates(before) || delegates(after) || trace.hidesCode === true)
      this.readsCode = true;
  }

  addSlot(slot: string): void {
    this.otherSlots.add(slot);
  }

  /** What the traces leave open. @param number - of the block */
  askForState(number: number): Question[] {
    const questions = this.askForAccount(number, this.state, this.readsState ? undefined : this.said);
    if (this.readsBefore) questions.push(...this.askForAccount(number - 1, this.stateBefore));
    if (this.readsCode) questions.push(this.askForCode(number));
    for (const slot of this.listOpenSlots()) questions.push(this.askForSlot(slot, number, this.slots));
    for (const slot of this.otherSlots) questions.push(this.askForSlot(slot, number - 1, this.slotsBefore));
    return questions;
  }

  askForCode(number: number): Question {
    return this.ask("eth_getCode", [], number, (answer, where) => {
      this.state.code = parseBytes(answer, `${where}: code`, MAX_CODE_BYTES);
    });
  }

  /** Once all questions are answered, with the code if it `lacksCode`. */
  differ(): AccountDifference {
    const address = fromHex(this.address);
    const {nonce, balance, code} = this.state;
    if (isEmpty(this.state)) return {address, change: undefined};
    const timeline = new AccountTimeline(this.readsBefore ? this.stateBefore : undefined, this.traces);
    timeline.end(this.state);
    const read = (slot: string): string => this.slots.get(slot) as string;
    // The request queues are empty in most blocks. A slot that keeps its value is left out, because it would cost
    // pages. But if a trace has the slot, the value that was read replaces the trace's: the end of the block resets the
    // counters.
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
    const {said} = this;
    for (const field of ["nonce", "balance"] as const)
      if (after === "gone") said[field] = undefined;
      else said[field] = after[field] ?? (typeof before === "object" ? (before[field] ?? said[field]) : 0n);
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

  /** @param said - is not asked for */
  private askForAccount(number: number, state: AccountState, said?: AccountView): Question[] {
    const questions: Question[] = [];
    if (said?.nonce !== undefined) state.nonce = said.nonce;
    else
      questions.push(
        this.ask("eth_getTransactionCount", [], number, (answer, where) => {
          state.nonce = parseQuantity(answer, `${where}: nonce`, 64);
        }),
      );
    if (said?.balance !== undefined) state.balance = said.balance;
    else
      questions.push(
        this.ask("eth_getBalance", [], number, (answer, where) => {
          state.balance = parseQuantity(answer, `${where}: balance`, 256);
        }),
      );
    return questions;
  }

  private askForSlot(slot: string, number: number, slots: Map<string, string>): Question {
    return this.ask("eth_getStorageAt", [slot], number, (answer, where) => {
      slots.set(slot, parseWord(answer, `${where}: slot ${slot}`));
    });
  }

  /** @param params - after the address and before the block */
  private ask(
    method: string,
    params: readonly string[],
    number: number,
    take: (answer: unknown, where: string) => void,
  ): Question {
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

function fromHex(text: string): Buffer {
  return Buffer.from(text.slice(2), "hex");
}
