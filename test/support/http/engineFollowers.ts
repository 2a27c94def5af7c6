/** Two services in the test's own process that follow one geth: by `execute`, and by `trace`. */
import assert from "node:assert/strict";
import {sendCommand} from "../../../server/lifecycle/control/controlClient.ts";
import type {EngineChain} from "../chains/engineChain.ts";
import type {RealNode} from "../processes/realNode.ts";
import {compareWithGeth, readTouched} from "./gethComparison.ts";
import {waitForHash} from "./nodeFollower.ts";
import {OwnService} from "./ownService.ts";

const COMPARED = 10;

interface Follower {
  readonly db: string;
  readonly daemon: OwnService;
}

export class EngineFollowers {
  private constructor(
    private readonly chain: EngineChain,
    private readonly node: RealNode,
    private readonly followers: Follower[],
  ) {}

  /** @param name - of the stores. They may be there already */
  static async serve(chain: EngineChain, node: RealNode, name = "undisturbed"): Promise<EngineFollowers> {
    const followers: Follower[] = [];
    for (const [db, flags] of EngineFollowers.flags(chain, node, name))
      followers.push({db, daemon: await OwnService.serve(flags)});
    const self = new EngineFollowers(chain, node, followers);
    await self.follow();
    return self;
  }

  /** Of a service by each source. */
  static flags(chain: EngineChain, node: RealNode, name: string): (readonly [db: string, flags: string[]])[] {
    return ["execute", "trace"].map(source => {
      const db = chain.file(`${name}-${source}.db`);
      return [db, ["--db", db, "--l2", node.url, "--genesis", chain.genesisPath, "--source", source]];
    });
  }

  /** Runs `body` for both at once. */
  async each(body: (follower: Follower) => Promise<unknown>): Promise<void> {
    await Promise.all(this.followers.map(body));
  }

  /** Asks one of them, in turn. */
  ask<Answer>(turn: number, question: (daemon: OwnService) => Promise<Answer>): Promise<Answer> {
    return question((this.followers[turn % this.followers.length] as Follower).daemon);
  }

  follow(): Promise<void> {
    return this.each(({daemon}) =>
      waitForHash(daemon, this.chain.height, this.chain.hashOf(this.chain.height)),
    );
  }

  finalize(to: number): Promise<void> {
    return this.each(async ({db}) => assert.ok((await sendCommand(db, {kind: "finalize", to})).ok));
  }

  /**
   * Compares all hashes, and every touched account and slot at ten blocks. The chain's newest block is finalized for it.
   *
   * @param accounts - which may be on replaced branches only
   */
  async compare(accounts: readonly string[]): Promise<void> {
    const {chain, node, followers} = this;
    await this.finalize(chain.height);
    for (let number = 0; number <= chain.height; number++) {
      const call = ["chain_getStateRoot", [`0x${number.toString(16)}`]] as const;
      const [executed, traced] = await Promise.all(followers.map(({daemon}) => daemon.call(...call)));
      assert.equal(executed.result.hash, chain.hashOf(number));
      assert.deepEqual(traced, executed);
    }
    // Their roots are the same, so what one of them proves is in the other one's state too.
    const touched = new Map([
      ...accounts.map(account => [account, new Set<string>()] as const),
      ...(await readTouched(node, chain.height)),
    ]);
    for (let at = 1; at <= COMPARED; at++) {
      await this.ask(at, daemon =>
        compareWithGeth(daemon, node, touched, Math.floor((at * chain.height) / COMPARED)),
      );
    }
  }

  async stop(): Promise<void> {
    for (const {daemon} of this.followers.splice(0)) await daemon.stop();
  }
}
