/** EVMs for the blocks used last. State that a call has read stays cached for the next one. */

import {ChainState} from "../../../evm/execution/chainState.ts";
import {Evm} from "../../../evm/interpreter/evm.ts";
import type {StateSource} from "../../../evm/interpreter/stateSource.ts";
import type {BlockRecord} from "../../../storage/block/blockRecord.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {StoreError} from "../../../storage/errors.ts";
import {TrieState} from "../../../storage/trie/trieState.ts";
import type {Deadline} from "../call/deadline.ts";
import {readBlockHash} from "./blockHash.ts";
import {TreeState} from "./treeState.ts";

/** Most clients ask for the newest block, or for the newest that is finalized. */
const MAX_EVMS = 3;

interface CachedEvm {
  /** Of the root of the state. Its number is never given to another state. */
  readonly rootPage: number;
  readonly evm: Evm;
}

export class CachedEvms {
  /** The most recently used comes last. */
  private evms: CachedEvm[] = [];
  private readonly readState: ReadState;

  constructor(
    store: StateReader,
    private readonly deadline: Deadline,
  ) {
    this.readState = readStates(store);
  }

  at(block: BlockRecord): Evm {
    const {rootPage, open} = this.readState(block);
    const known = this.evms.find(one => one.rootPage === rootPage);
    const evm = known?.evm ?? this.newOrOldest();
    if (known === undefined || evm.isFull) evm.moveTo(open());
    this.evms = [...this.evms.filter(one => one.evm !== evm), {rootPage, evm}];
    return evm;
  }

  /** After a failure that may have left anything behind. */
  discard(evm: Evm): void {
    this.evms = this.evms.filter(one => one.evm !== evm);
  }

  private newOrOldest(): Evm {
    const [oldest] = this.evms;
    return this.evms.length < MAX_EVMS || oldest === undefined
      ? new Evm(work => this.deadline.exclude(work))
      : oldest.evm;
  }
}

type ReadState = (block: BlockRecord) => {
  /** Page numbers are never given to another state. */
  readonly rootPage: number;
  open(): StateSource;
};

/** Call it once for a store. */
function readStates(store: StateReader): ReadState {
  if (store.hasTrees)
    return ({accounts}) => ({rootPage: accounts.rootPage, open: () => new TreeState(store, accounts)});
  const readHash = (block: number): Uint8Array => readBlockHash(store, block);
  return ({header, trie}) => {
    if (trie === undefined)
      throw new StoreError("RECORD_DAMAGED", `record of block ${header.number}: it has no state trie`);
    return {
      rootPage: trie.page,
      open: () => new ChainState(store, new TrieState(store.tries, trie), readHash),
    };
  };
}
