/**
 * The state roots that proofs are verified against: the root of the requested block or, for the tag "latest", that of
 * any block that was the newest at some time during the load.
 *
 * They come from the server under test: verification shows that its answers agree with the state that it claims.
 */
import {LoadError} from "../loadError.ts";
import type {Style} from "../loadOptions.ts";
import {RpcAnswerError, type RpcClient} from "./rpcClient.ts";
import {EMPTY_TRIE} from "./verifyProofs.ts";

/** Bounds the roots that are read for "latest" where the chain grew fast during the load. */
const MAX_CANDIDATES = 10_000;
const CALLS_AT_ONCE = 8;
/** anvil computes the header of block 0 before it adds its accounts, so that no proof leads to its root. */
const NO_GENESIS_ROOT =
  "the header of block 0 commits to the empty state, as a new anvil's does: mine a block first, or name later --blocks";

export class TrustedRoots {
  private method: string;
  private readonly roots = new Map<number, string>();
  /** The newest provable blocks before and after the load. */
  private first: number | undefined;
  private last: number | undefined;

  constructor(
    private readonly rpc: RpcClient,
    private readonly style: Style,
  ) {
    this.method = style === "chain" ? "chain_getStateRoot" : "eth_getBlockByNumber";
  }

  /** Call it before the load. @returns why no answer can be verified, or undefined */
  async markStart(): Promise<string | undefined> {
    try {
      // eth_getBlockByNumber of proofd needs the whole header, which not all sources of blocks give.
      if (this.style === "eth" && (await this.rpc.tryCall("chain_getHeader", ["finalized"])) !== undefined)
        this.method = "chain_getHeader";
      this.first = await this.readNewest();
      return this.first === undefined ? "the server has no block that can be proved" : undefined;
    } catch (error) {
      if (!(error instanceof RpcAnswerError)) throw error;
      return `the server does not say its state roots: ${this.method}: ${error.message}`;
    }
  }

  /** Call it after the load. @param latest - also read the roots of all blocks that "latest" may have meant */
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
      for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
        const {stateRoot} = await this.readBlock(`0x${number.toString(16)}`);
        if (typeof stateRoot !== "string")
          throw new LoadError("UNREACHABLE", `${this.method} returns no state root for block ${number}`);
        this.roots.set(number, stateRoot);
      }
    };
    await Promise.all(Array.from({length: CALLS_AT_ONCE}, work));
    if (this.style === "eth" && this.roots.get(0) === EMPTY_TRIE)
      throw new LoadError("UNREACHABLE", NO_GENESIS_ROOT);
  }

  /** @param block - undefined for the tag "latest". @returns the roots that a proof at this block may lead to */
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
