/**
 * Judges what a source reports, without execution, of accounts that a block removed and created again. The root in the
 * header is the same either way, but in proofd's own trees such an account gets a new leaf. By the state before:
 *
 *   account before the block            before Cancun     since Cancun
 *   without code, nonce above 0         impossible        impossible        it cannot destroy itself, and nothing is created there
 *   with code                           open              impossible        EIP-6780: only in the transaction that created it
 *   only a balance                      open              open              a contract may be created there, and destroy itself
 *
 * A lower nonce shows that the account was removed. A source that does not report it is wrong too.
 */

import {SourceError} from "../../nodes/blocks/sourceStep.ts";
import type {BlockDifference, BlockHeader} from "../../storage/block/blockDifference.ts";
import {hasBeaconRoot} from "../../storage/block/headerRlp.ts";
import type {AccountReset} from "../../storage/commit/stateWriter.ts";
import {toHex} from "../../storage/hex.ts";
import {ChangesRefused} from "./stateRootCheck.ts";

/** @returns the addresses (`0x` text) of possible resets. @throws ChangesRefused if one is impossible */
export function findOpenResets(
  resets: readonly AccountReset[],
  header: BlockHeader,
  origin: string,
): readonly string[] {
  return resets.map(({address, hasCode, hasNonce, isSaid}) => {
    const refuse = (what: string): never => {
      throw new ChangesRefused(
        `block ${header.number}: account ${toHex(address)}: ${origin} ${what}. Nothing of the block is stored`,
      );
    };
    if (!isSaid) refuse("lowers its nonce, and does not say that it was removed and made again");
    if (hasNonce && !hasCode)
      refuse("says that it was removed and made again, but it has no code and a nonce above 0");
    if ((hasNonce || hasCode) && hasBeaconRoot(header))
      refuse("says that it was removed and made again, but since Cancun (EIP-6780) a contract stays");
    return toHex(address);
  });
}

/** @param other - the block from another node. @throws SourceError if it does not report the same resets */
export function requireSameResets(open: readonly string[], other: BlockDifference, origin: string): void {
  const {accounts, header} = other;
  const said = new Set<string>();
  for (let i = 0; i < accounts.count; i++) {
    const {address, change} = accounts.at(i);
    if (change?.reset === true) said.add(toHex(address));
  }
  const denied = open.find(address => !said.has(address));
  if (denied !== undefined)
    throw new SourceError(
      `block ${header.number}: account ${denied}: ${origin} says that it was removed and made again, and another node does not. Nothing of the block is stored`,
    );
}
