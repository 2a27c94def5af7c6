/** A path in tries of which the store may have only slices: what is missing is gathered, to be asked for at once. */

import type {StateReader} from "../../storage/block/stateReader.ts";
import {NodeMissing} from "../../storage/errors.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import type {TrieRoot} from "../../storage/trie/trie.ts";
import {TriePath} from "../../storage/trie/triePath.ts";
import {CallFailure} from "../messages/failure.ts";

export class SlicePath extends TriePath {
  private readonly missing = new Map<string, Set<string>>();

  /** @param bytes - as of TriePath */
  constructor(
    private readonly store: StateReader,
    bytes: Uint8Array,
  ) {
    super(store.tries, bytes);
  }

  /**
   * @param page - of the state trie's root. @param joins - as of TriePath.open. @param hash - of the address
   * @returns as TriePath.open. @throws CallFailure NOT_IN_SLICE if the store lacks this account at the block
   */
  openAccount(
    block: number,
    page: number,
    address: Uint8Array,
    joins = false,
    hash: Uint8Array = keccak256(address),
  ): Uint8Array | undefined {
    try {
      return this.open(page, hash, "accounts", joins);
    } catch (error) {
      if (!(error instanceof NodeMissing)) throw error;
      throw new CallFailure({
        failure: "NOT_IN_SLICE",
        detail: describeSlice(this.store, block, toHex(address)),
      });
    }
  }

  /** Notes a slot that is missing. @returns as TriePath.open */
  openSlot(
    {page, root}: TrieRoot,
    address: Uint8Array,
    slot: Uint8Array,
    joins = false,
    hash: Uint8Array = keccak256(slot),
  ): Uint8Array | undefined {
    try {
      return this.open(page, hash, "slots", joins, root);
    } catch (error) {
      if (!(error instanceof NodeMissing)) throw error;
      const account = toHex(address);
      const slots = this.missing.get(account) ?? new Set();
      this.missing.set(account, slots.add(toHex(slot)));
      return undefined;
    }
  }

  /** Call it before the first account of each call. */
  begin(): void {
    this.missing.clear();
  }

  /** Call it after the last slot of each call. @throws CallFailure SLOTS_MISSING if slots are missing */
  end(block: number): void {
    const [first] = this.missing;
    if (first === undefined) return;
    const accounts = [...this.missing].map(([address, slots]) => ({address, slots: [...slots]}));
    const detail = `block ${block}: slot ${[...first[1]][0]} of ${first[0]} is not in the store`;
    throw new CallFailure({failure: "SLOTS_MISSING", detail, block, accounts});
  }
}

function describeSlice(store: StateReader, block: number, address: string): string {
  const contracts = store.readSlice() ?? [];
  const own = contracts.filter(one => one.address === address);
  const since = own.map(({from, to}) =>
    to === undefined ? `from block ${from} on` : `blocks ${from} to ${to}`,
  );
  const has =
    own.length > 0
      ? `the store has this account ${since.join(" and ")}`
      : `the store has slices of ${contracts.map(one => one.address).join(", ")}; --contracts adds others from then on`;
  return `account ${address} is not in the store at block ${block}: ${has}`;
}
