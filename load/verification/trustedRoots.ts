/**
 * Which state root an answer must lead to: the root of the requested block. For the tag "latest": the root of any block that
 * was the newest during the load.
 *
 * The roots come from the server itself. So the check shows that the answers are proofs of the state that the server claims
 * to have.
 */
import {LoadError} from "../loadError.ts";
import type {Style} from "../loadOptions.ts";
import {RpcAnswerError, type RpcClient} from "./rpcClient.ts";
import {EMPTY_TRIE, readEthRoot} from "./verifyProofs.ts";

/** If the chain grew very fast during the load, only this many of its newest blocks are used. */
const MAX_CANDIDATES = 10_000;
const CALLS_AT_ONCE = 8;
const ZERO_ADDRESS = `0x${"00".repeat(20)}`;

export class TrustedRoots {
  private method: string;
  private readonly roots = new Map<number, string>();
  /** The newest provable blocks before and after the load. */
  private first: number | undefined;
  private last: number | undefined;
  /** What readers of the result should know about the roots, or undefined. */
  note: string | undefined;

  constructor(
    private readonly rpc: RpcClient,
    private readonly style: Style,
  ) {
    this.method = style === "chain" ? "chain_getStateRoot" : "eth_getBlockByNumber";
  }

  /** Called before the load. @returns why there is nothing to verify against, or undefined */
  async markStart(): Promise<string | undefined> {
    try {
      // A proofd has no blocks, but their headers.
      if (this.style === "eth" && (await this.rpc.tryCall("chain_getHeader", ["finalized"])) !== undefined)
        this.method = "chain_getHeader";
      this.first = await this.readNewest();
      return this.first === undefined ? "the server has no block that can be proved" : undefined;
    } catch (error) {
      if (!(error instanceof RpcAnswerError)) throw error;
      return `the server does not say its state roots: ${this.method}: ${error.message}`;
    }
  }

  /**
   * Called after the load. Reads the roots of these blocks, and of those that "latest" meant.
   *
   * @throws RpcAnswerError, LoadError if the server does not give one
   */
  async read(blocks: Iterable<number>, latest: boolean): Promise<void> {
    const numbers = new Set(blocks);
    if (latest) {
      this.last = await this.readNewest();
      const last = this.last ?? -1;
      for (let number = Math.max(this.first ?? 0, last - MAX_CANDIDATES); number <= last; number++)
        numbers.add(number);
    }
    const waiting = [...numbers];
    const work = async (): Promise<void> => {
      for (let number = waiting.pop(); number !== undefined; number = waiting.pop())
        this.roots.set(number, await this.readRoot(number));
    };
    await Promise.all(Array.from({length: CALLS_AT_ONCE}, work));
    if (this.style === "eth" && this.roots.get(0) === EMPTY_TRIE) await this.readGenesisRoot();
  }

  private async readRoot(number: number): Promise<string> {
    const {stateRoot} = await this.readBlock(`0x${number.toString(16)}`);
    // Without a root, an answer for this block cannot be called right or wrong.
    if (typeof stateRoot === "string") return stateRoot;
    throw new LoadError("UNREACHABLE", `${this.method} gives no state root of block ${number}`);
  }

  /**
   * anvil makes the header of block 0 before it adds its accounts. So the header names the empty state, whatever the block
   * has. The root of another proof of this block is used instead: all answers must be proofs of one state.
   */
  private async readGenesisRoot(): Promise<void> {
    const proof = await this.rpc.tryCall("eth_getProof", [ZERO_ADDRESS, [], "0x0"]);
    if (proof === undefined) return;
    let root: string;
    try {
      root = readEthRoot(proof);
    } catch {
      return; // there is no proof at all; then the header's root shows that such answers are wrong
    }
    if (root === EMPTY_TRIE) return;
    this.roots.set(0, root);
    this.note =
      "The header of block 0 names the empty state, but the server proves accounts in it (anvil does so). " +
      "Answers of block 0 were compared with each other instead of with the header: all must lead to one root.";
  }

  /** @returns the roots that an answer for this block may lead to; undefined: the tag "latest" */
  rootsOf(block: number | undefined): readonly string[] {
    if (block !== undefined) return this.roots.has(block) ? [this.roots.get(block) as string] : [];
    const {first = 0, last = -1} = this;
    return [...this.roots].filter(([number]) => number >= first && number <= last).map(([, root]) => root);
  }

  private async readNewest(): Promise<number | undefined> {
    const {number} = await this.readBlock(this.method === "eth_getBlockByNumber" ? "latest" : "finalized");
    return typeof number === "string" ? Number(number) : undefined;
  }

  private async readBlock(block: string): Promise<{number?: unknown; stateRoot?: unknown}> {
    const isNode = this.method === "eth_getBlockByNumber";
    const answer = (await this.rpc.call(this.method, isNode ? [block, false] : [block])) ?? {};
    if (this.method !== "chain_getHeader") return answer;
    const {block: named, header} = answer as {block?: {number?: unknown}; header?: {stateRoot?: unknown}};
    return {number: named?.number, stateRoot: header?.stateRoot};
  }
}
