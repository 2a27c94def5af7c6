/** What the state of a block is read from: the sparse trees of the store, or Ethereum's state trie where it has nothing else. */
import {ChainState} from "../../../evm/execution/chainState.ts";
import type {StateSource} from "../../../evm/interpreter/stateSource.ts";
import {TrieState} from "../../../evm/trie/trieState.ts";
import type {BlockRecord} from "../../../storage/block/blockRecord.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {StoreError} from "../../../storage/errors.ts";
import {HeldSource} from "./heldSource.ts";

export type ReadState = (block: BlockRecord) => {
  /** Page numbers are never given to another state. */
  readonly rootPage: number;
  open(): StateSource;
};

/** Call it once for a store. */
export function readStates(store: StateReader): ReadState {
  if (store.hasTrees)
    return ({accounts}) => ({rootPage: accounts.rootPage, open: () => new HeldSource(store, accounts)});
  const readHash = (block: number): Uint8Array => store.blockHashOrThrow(block);
  return ({header, trie}) => {
    if (trie === undefined)
      throw new StoreError("RECORD_DAMAGED", `record of block ${header.number}: it has no state trie`);
    return {
      rootPage: trie.page,
      open: () => new ChainState(store, new TrieState(store.tries, trie), readHash),
    };
  };
}
