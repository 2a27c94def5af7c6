/** The accounts and slots that a block touched, and the calls that read their values from the node. */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {NodeFailure} from "../../rpc/node.ts";
import type {TransactionTrace} from "./accountTrace.ts";
import {type Question, TouchedAccount} from "./touchedAccount.ts";
import type {TracedBlock} from "./tracedBlock.ts";
import type {UntracedWrite} from "./untracedWrites.ts";

/** Bytes that an account takes in AccountDifferences, without code and slots. */
const ACCOUNT_BYTES = 100;
const SLOT_BYTES = 64;

export class TouchedBlock {
  /** By address: `0x` and 40 digits in lower case. */
  private readonly accounts = new Map<string, TouchedAccount>();
  private readonly packed = new AccountDifferences();
  private bytes = 0;

  /**
   * @param isBrief - nonces and balances that traces say are not read
   * @throws NodeFailure if the traces are not those of the block's transactions
   */
  constructor(
    readonly block: TracedBlock,
    traces: readonly TransactionTrace[],
    untraced: readonly UntracedWrite[],
    isBrief: boolean,
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
    for (const address of addresses) this.account(address).readsState = true;
    for (const address of authorities) this.account(address).readsCode = true;
    for (const {address, slots} of untraced) {
      const account = this.account(address);
      account.readsState = true;
      for (const slot of slots) account.addSlot(slot);
    }
    if (!isBrief) for (const account of this.accounts.values()) account.readsState = true;
    // Of most accounts the traces tell all. Objects that wait for other blocks' answers are what the collector has most
    // work with.
    else
      for (const [address, account] of this.accounts)
        if (account.askForState(header.number).length === 0 && !account.lacksCode) {
          this.pack(account);
          this.accounts.delete(address);
        }
  }

  /**
   * The account, and these slots (`0x` and 64 digits), may have changed although no trace says so. Call it before
   * `askForState`.
   */
  readBack(address: string, slots: readonly string[]): void {
    const account = this.account(address);
    account.readsState = true;
    account.readsBefore = true;
    account.readsCode = true;
    for (const slot of slots) account.addSlot(slot);
  }

  /** What the traces leave open, and what is read whatever they say. */
  askForState(): Question[] {
    const {number} = this.block.header;
    return [...this.accounts.values()].flatMap(account => account.askForState(number));
  }

  /**
   * The codes of accounts without nonce and balance: if they have no code either, they do not exist. After
   * `askForState`.
   */
  askForCodes(): Question[] {
    const {number} = this.block.header;
    return [...this.accounts.values()]
      .filter(({lacksCode}) => lacksCode)
      .map(account => account.askForCode(number));
  }

  /** Once all questions are answered. */
  differ(): {difference: BlockDifference; bytes: number} {
    for (const account of this.accounts.values()) this.pack(account);
    return {difference: {header: this.block.header, accounts: this.packed}, bytes: this.bytes};
  }

  private pack(account: TouchedAccount): void {
    const one = account.differ();
    this.packed.add(one);
    this.bytes += ACCOUNT_BYTES + (one.change?.code?.length ?? 0);
    this.bytes += SLOT_BYTES * (one.change?.storage?.length ?? 0);
  }

  private account(address: string): TouchedAccount {
    const account = this.accounts.get(address) ?? new TouchedAccount(address);
    this.accounts.set(address, account);
    return account;
  }
}
