/** EVMs for the blocks used last. State that a call has read stays cached for the next one. */

import {ChainState} from "../../../evm/execution/chainState.ts";
import {Evm} from "../../../evm/interpreter/evm.ts";
import type {StateSource} from "../../../evm/interpreter/stateSource.ts";
import type {BlockRecord} from "../../../storage/block/blockRecord.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {StoreError} from "../../../storage/errors.ts";
import type {TrieRoot} from "../../../storage/trie/trie.ts";
import {TrieState} from "../../../storage/trie/trieState.ts";
import type {Deadline} from "../call/deadline.ts";
import {readBlockHash} from "./blockHash.ts";
import {TreeState} from "./treeState.ts";

/** Most clients ask for the newest block, or for the newest that is finalized. */
const MAX_EVMS = 3;

export class CachedEvms {
  /** By the page of the state's root, whose number is never given to another state. The most recently used comes last. */
  private evms: {readonly rootPage: number; readonly evm: Evm}[] = [];

  constructor(
    private readonly store: StateReader,
    private readonly deadline: Deadline,
  ) {}

  at(block: BlockRecord): Evm {
    const rootPage = this.store.hasTrees ? block.accounts.rootPage : trieOf(block).page;
    const last = this.evms.at(-1);
    if (last?.rootPage === rootPage && !last.evm.isFull) return last.evm;
    const known = this.evms.find(one => one.rootPage === rootPage);
    const reused = known ?? (this.evms.length < MAX_EVMS ? undefined : this.evms[0]);
    const evm = reused?.evm ?? new Evm(work => this.deadline.exclude(work));
    if (known === undefined || evm.isFull) evm.moveTo(this.open(block));
    this.evms = [...this.evms.filter(one => one.evm !== evm), {rootPage, evm}];
    return evm;
  }

  /** After a failure that may have left anything behind. */
  discard(evm: Evm): void {
    this.evms = this.evms.filter(one => one.evm !== evm);
  }

  private open(block: BlockRecord): StateSource {
    const {store} = this;
    if (store.hasTrees) return new TreeState(store, block.accounts);
    const readHash = (number: number): Uint8Array => readBlockHash(store, number);
    return new ChainState(store, new TrieState(store.tries, trieOf(block)), readHash);
  }
}

function trieOf({header, trie}: BlockRecord): TrieRoot {
  if (trie !== undefined) return trie;
  throw new StoreError("RECORD_DAMAGED", `record of block ${header.number}: it has no state trie`);
}
