/**
 * Judges what a source that was not executed says of accounts that were removed and made again within a block. The root in the block's
 * header is the same either way, but proofd's own trees give such an account a new leaf. The state before the block shows what cannot be:
 *
 *   account before the block            before Cancun     since Cancun
 *   without code, nonce above 0         cannot be         cannot be         it cannot destroy itself, and nothing is made at its address
 *   with code                           open              cannot be         EIP-6780: only in the transaction that made it
 *   only a balance                      open              open              a contract may be made there, and destroy itself
 *
 * A nonce that falls shows that the account was removed. A source that does not say so cannot be right either.
 */

import {SourceError} from "../../nodes/blocks/sourceStep.ts";
import type {BlockDifference, BlockHeader} from "../../storage/block/blockDifference.ts";
import {hasBeaconRoot} from "../../storage/block/headerRlp.ts";
import type {AccountReset} from "../../storage/commit/stateWriter.ts";
import {toHex} from "../../storage/hex.ts";
import {ChangesRefused} from "./differenceCheck.ts";

/**
 * @param resets - of accounts that the block before left
 * @param origin - what gave the changes
 * @returns the addresses (`0x` text) of those that may be true
 * @throws ChangesRefused if one of them cannot be
 */
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

/**
 * @param open - addresses that were removed and made again, as `origin` says
 * @param other - the same block as another node gives it
 * @throws SourceError if it does not say so too
 */
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
