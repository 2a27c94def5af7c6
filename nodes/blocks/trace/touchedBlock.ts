/** The accounts and slots that a block touched, and the calls that read their values from the node. */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {NodeFailure} from "../../rpc/node.ts";
import type {TransactionTrace} from "./accountTrace.ts";
import type {BlockBesidesTraces} from "./blockBesidesTraces.ts";
import {type StateQuery, TouchedAccount} from "./touchedAccount.ts";
import type {UntracedWrite} from "./untracedWrites.ts";

/** Approximate bytes of an account in AccountDifferences, without code and slots. */
const ACCOUNT_BYTES = 100;
const SLOT_BYTES = 64;

export class TouchedBlock {
  /** By address: `0x` and 40 digits in lower case. */
  private readonly accounts = new Map<string, TouchedAccount>();
  private readonly packed = new AccountDifferences();
  private bytes = 0;

  /** @param isMinimal - nonces and balances come from the traces. @throws NodeFailure if they do not match it */
  constructor(
    readonly block: BlockBesidesTraces,
    traces: readonly TransactionTrace[],
    untraced: readonly UntracedWrite[],
    isMinimal: boolean,
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
    if (!isMinimal) for (const account of this.accounts.values()) account.readsState = true;
    // Most accounts need nothing else. Objects that wait for other blocks' results burden the garbage collector most.
    else
      for (const [address, account] of this.accounts)
        if (account.queryState(header.number).length === 0 && !account.needsCode) {
          this.pack(account);
          this.accounts.delete(address);
        }
  }

  /** Marks an account and slots (`0x` and 64 digits) that may have changed without a trace. */
  readBack(address: string, slots: readonly string[]): void {
    const account = this.account(address);
    account.readsState = true;
    account.readsBefore = true;
    account.readsCode = true;
    for (const slot of slots) account.addSlot(slot);
  }

  /** @returns calls for what the traces do not have, and for what is always read */
  queryState(): StateQuery[] {
    const {number} = this.block.header;
    return [...this.accounts.values()].flatMap(account => account.queryState(number));
  }

  /** @returns calls for the code of accounts without nonce and balance, which exist only if they have code */
  queryCodes(): StateQuery[] {
    const {number} = this.block.header;
    return [...this.accounts.values()]
      .filter(({needsCode}) => needsCode)
      .map(account => account.queryCode(number));
  }

  /** Called once all results have arrived. */
  toDifference(): {difference: BlockDifference; bytes: number} {
    for (const account of this.accounts.values()) this.pack(account);
    return {difference: {header: this.block.header, accounts: this.packed}, bytes: this.bytes};
  }

  private pack(account: TouchedAccount): void {
    const one = account.toDifference();
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
