/**
 * The state trie under blocks that are not executed here. What a source says that a block changed is applied to it, and gives the
 * root that the block's header must name.
 */
import {Account, Address, KECCAK256_RLP} from "@ethereumjs/util";
import type {AccountDifference} from "../../storage/block/accountDifference.ts";
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {ExecutionState} from "./executionState.ts";
import type {TrieNodes} from "./trieNodes.ts";

/** Of a larger block, nodes are put before its root is known. Bounds the memory for a block 0 of millions of accounts. */
const ACCOUNTS_AT_ONCE = 1 << 16;

export class StateTrie {
  private readonly state: ExecutionState;

  private constructor(private readonly nodes: TrieNodes) {
    this.state = new ExecutionState(nodes);
  }

  /** @param root - default: the empty trie's. @throws ExecutionError STATE_MISSING if `nodes` does not have the trie */
  static async open(nodes: TrieNodes, root: Uint8Array = KECCAK256_RLP): Promise<StateTrie> {
    const trie = new StateTrie(nodes);
    await trie.state.setStateRoot(root);
    return trie;
  }

  /**
   * Applies a block. Its nodes are put once `check` has not thrown.
   *
   * @param check - takes the root after the block
   * @returns that root. After an error the trie must not be used any more
   */
  async apply(accounts: AccountDifferences, check: (root: Uint8Array) => void): Promise<Uint8Array> {
    for (let position = 0; position < accounts.count; position++) {
      await this.write(accounts.at(position));
      if ((position + 1) % ACCOUNTS_AT_ONCE !== 0) continue;
      await this.state.seal();
      await this.nodes.settle?.();
    }
    const root = await this.state.getStateRoot();
    check(root);
    await this.state.seal();
    return root;
  }

  private async write({address, change, onlyRead}: AccountDifference): Promise<void> {
    if (onlyRead === true) return;
    const {state} = this;
    const at = new Address(new Uint8Array(address));
    if (change === undefined) return state.deleteAccount(at);
    const before = await state.getAccount(at);
    if (change.reset === true) await state.deleteAccount(at);
    const account = (change.reset === true ? undefined : before) ?? new Account();
    if (change.keepsCode === true && before !== undefined) account.codeHash = before.codeHash;
    if (change.nonce !== undefined) account.nonce = change.nonce;
    if (change.balance !== undefined) account.balance = change.balance;
    await state.putAccount(at, account);
    if (change.code !== undefined) await state.putCode(at, change.code);
    for (const {slot, value} of change.storage ?? [])
      await state.putStorage(at, new Uint8Array(slot), new Uint8Array(value));
  }
}
