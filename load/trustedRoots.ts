/**
 * Which state root an answer must lead to: that of the block that was asked for; for the tag "latest" that of any
 * block that was the newest while the load ran.
 *
 * The roots come from the server itself, so what is verified is that its answers are proofs of the state that it
 * claims to have.
 */
import type {Style} from "./requestMaker.ts";
import {RpcAnswerError, type RpcClient} from "./rpcClient.ts";

/** The newest blocks of a chain that ran away during the load are enough. */
const MAX_CANDIDATES = 10_000;

export class TrustedRoots {
  readonly #rpc: RpcClient;
  readonly #style: Style;
  readonly #roots = new Map<number, string>();
  /** Newest provable blocks at the beginning and at the end. */
  #first: number | null = null;
  #last: number | null = null;

  constructor(rpc: RpcClient, style: Style) {
    this.#rpc = rpc;
    this.#style = style;
  }

  /** Called before the load. @returns why there is nothing to verify against, or null */
  async markStart(): Promise<string | null> {
    try {
      this.#first = await this.#readNewest();
      return this.#first === null ? "the server has no block that can be proved" : null;
    } catch (error) {
      if (!(error instanceof RpcAnswerError)) throw error;
      return `the server does not say its state roots: ${this.#methodOf()}: ${error.message}`;
    }
  }

  /** Called after the load: reads the roots of these blocks, and of what "latest" was. */
  async read(blocks: Iterable<number>, latest: boolean): Promise<void> {
    const numbers = new Set(blocks);
    if (latest) {
      this.#last = await this.#readNewest();
      const last = this.#last ?? -1;
      for (let number = Math.max(this.#first ?? 0, last - MAX_CANDIDATES); number <= last; number++)
        numbers.add(number);
    }
    const results = await this.#rpc.callAll(numbers, number => this.#callOf(`0x${number.toString(16)}`));
    for (const [number, result] of results) {
      const {stateRoot} = (result ?? {}) as {stateRoot?: unknown};
      if (typeof stateRoot === "string") this.#roots.set(number, stateRoot);
    }
  }

  /** @returns the roots that an answer for this block may lead to; null = the tag "latest" */
  rootsOf(block: number | null): readonly string[] {
    if (block !== null) return this.#roots.has(block) ? [this.#roots.get(block) as string] : [];
    const roots: string[] = [];
    for (const [number, root] of this.#roots)
      if (number >= (this.#first ?? 0) && number <= (this.#last ?? -1)) roots.push(root);
    return roots;
  }

  async #readNewest(): Promise<number | null> {
    const tag = this.#style === "chain" ? "finalized" : "latest";
    const {number} = ((await this.#rpc.call(...this.#callOf(tag))) ?? {}) as {number?: unknown};
    return typeof number === "string" ? Number(number) : null;
  }

  #methodOf(): string {
    return this.#style === "chain" ? "chain_getStateRoot" : "eth_getBlockByNumber";
  }

  #callOf(block: string): readonly [string, readonly unknown[]] {
    return [this.#methodOf(), this.#style === "chain" ? [block] : [block, false]];
  }
}
