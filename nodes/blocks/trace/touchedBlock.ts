/** The accounts and slots that a block touched, and the calls that read their values from the node. */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {parseBytes, parseQuantity, parseWord} from "../../rpc/answerValues.ts";
import {type NodeCall, NodeFailure} from "../../rpc/node.ts";
import {hexQuantity} from "../linkedBlocks.ts";
import {isEmpty, MAX_CODE_BYTES, type TransactionTrace} from "./accountTrace.ts";
import {type AccountState, TouchedAccount} from "./touchedAccount.ts";
import type {TracedBlock} from "./tracedBlock.ts";
import type {UntracedWrite} from "./untracedWrites.ts";

/** A call, and what takes its result. */
export interface Question {
  readonly call: NodeCall;
  take(answer: unknown): void;
}

/** Bytes that an account takes in AccountDifferences, without code and slots. */
const ACCOUNT_BYTES = 100;
const SLOT_BYTES = 64;

export class TouchedBlock {
  /** By address: `0x` and 40 digits in lower case. */
  private readonly accounts = new Map<string, TouchedAccount>();
  /** After the block, and after the block before. */
  private readonly states = new Map<string, AccountState>();
  private readonly statesBefore = new Map<string, AccountState>();
  /** By address and slot. */
  private readonly slots = new Map<string, string>();
  private readonly slotsBefore = new Map<string, string>();

  /** @throws NodeFailure if the traces are not those of the block's transactions */
  constructor(
    readonly block: TracedBlock,
    traces: readonly TransactionTrace[],
    untraced: readonly UntracedWrite[],
  ) {
    const {header, transactions, addresses, authorities} = block;
    if (traces.length !== transactions.length)
      throw new NodeFailure(
        `block ${header.number}: expected ${transactions.length} traces, one per transaction, got ${traces.length}`,
      );
    for (const [position, {hash, accounts}] of traces.entries()) {
      if (hash !== undefined && hash !== transactions[position])
        throw new NodeFailure(
          `block ${header.number}: trace ${position}: expected transaction ${transactions[position]}, got ${hash}`,
        );
      for (const [address, trace] of accounts) this.account(address).add(trace);
    }
    for (const address of addresses) this.account(address);
    for (const address of authorities) this.account(address).readsCode = true;
    for (const {address, slots} of untraced) for (const slot of slots) this.account(address).addSlot(slot);
  }

  /** The account, and these slots (`0x` and 64 digits), may have changed although no trace says so. Call it before `askForState`. */
  readBack(address: string, slots: readonly string[]): void {
    const account = this.account(address);
    account.readsBefore = true;
    account.readsCode = true;
    for (const slot of slots) account.addSlot(slot);
  }

  /** Nonces, balances, and what the traces leave open. */
  askForState(): Question[] {
    const {number} = this.block.header;
    const questions: Question[] = [];
    for (const [address, account] of this.accounts) {
      questions.push(...askForAccount(address, number, this.states));
      if (account.readsBefore) questions.push(...askForAccount(address, number - 1, this.statesBefore));
      if (account.readsCode) questions.push(this.askForCode(address));
      for (const slot of account.slotsToRead()) questions.push(askForSlot(address, slot, number, this.slots));
      for (const slot of account.otherSlots)
        questions.push(askForSlot(address, slot, number - 1, this.slotsBefore));
    }
    return questions;
  }

  /** The codes of accounts without nonce and balance: if they have no code either, they do not exist. After `askForState`. */
  askForCodes(): Question[] {
    return [...this.states]
      .filter(([, state]) => state.code === undefined && isEmpty(state))
      .map(([address]) => this.askForCode(address));
  }

  /** Once all questions are answered. */
  differ(): {difference: BlockDifference; bytes: number} {
    const {header} = this.block;
    const accounts = new AccountDifferences();
    let bytes = 0;
    for (const [address, account] of this.accounts) {
      const state = this.states.get(address) as AccountState;
      const readSlot = (slot: string): string => this.slots.get(address + slot) as string;
      const readSlotBefore = (slot: string): string => this.slotsBefore.get(address + slot) as string;
      const bytesOfAddress = Buffer.from(address.slice(2), "hex");
      const one = account.differ(
        bytesOfAddress,
        state,
        this.statesBefore.get(address),
        readSlot,
        readSlotBefore,
      );
      accounts.add(one);
      bytes += ACCOUNT_BYTES + (one.change?.code?.length ?? 0);
      bytes += SLOT_BYTES * (one.change?.storage?.length ?? 0);
    }
    return {difference: {header, accounts}, bytes};
  }

  private askForCode(address: string): Question {
    const {number} = this.block.header;
    return {
      call: {method: "eth_getCode", params: [address, hexQuantity(number)]},
      take: answer => {
        const state = this.states.get(address) as AccountState;
        state.code = parseBytes(answer, `block ${number}: account ${address}: code`, MAX_CODE_BYTES);
      },
    };
  }

  private account(address: string): TouchedAccount {
    const account = this.accounts.get(address) ?? new TouchedAccount();
    this.accounts.set(address, account);
    return account;
  }
}

function askForAccount(address: string, number: number, states: Map<string, AccountState>): Question[] {
  const state: AccountState = {nonce: 0n, balance: 0n};
  states.set(address, state);
  const where = `block ${number}: account ${address}`;
  const params = [address, hexQuantity(number)];
  return [
    {
      call: {method: "eth_getTransactionCount", params},
      take: answer => {
        state.nonce = parseQuantity(answer, `${where}: nonce`, 64);
      },
    },
    {
      call: {method: "eth_getBalance", params},
      take: answer => {
        state.balance = parseQuantity(answer, `${where}: balance`, 256);
      },
    },
  ];
}

function askForSlot(address: string, slot: string, number: number, slots: Map<string, string>): Question {
  return {
    call: {method: "eth_getStorageAt", params: [address, slot, hexQuantity(number)]},
    take: answer => {
      slots.set(address + slot, parseWord(answer, `block ${number}: account ${address}: slot ${slot}`));
    },
  };
}
