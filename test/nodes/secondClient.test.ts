/**
 * proofd follows reth, whose chain geth makes, from cancun to osaka. Not under shanghai: reth 2.5.1 finds another state root than
 * geth and proofd where a contract with slots is destroyed.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {ENGINE_FORKS, ENGINE_TRAFFIC} from "../support/chains/engineTraffic.ts";
import {EngineFollowers} from "../support/http/engineFollowers.ts";
import {RETH} from "../support/processes/clientKinds.ts";
import {hasNode} from "../support/processes/nodePrograms.ts";
import {notRun} from "../support/processes/notRun.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

const FIRST = ENGINE_FORKS.cancun;
const FORKS = {cancun: 1, prague: ENGINE_FORKS.prague - FIRST + 1, osaka: ENGINE_FORKS.osaka - FIRST + 1};

let chain: EngineChain | undefined;
let reth: RealNode;

before(async () => {
  if (!hasNode("reth")) return;
  chain = await EngineChain.create(FORKS);
  for (const plan of ENGINE_TRAFFIC.slice(FIRST - 1)) await chain.seal(plan);
  reth = await chain.addNode(["--rpc.eth-proof-window", "1000"], RETH);
});

after(() => chain?.stop());

for (const isHalf of [false, true])
  test(`by execute and by trace, from ${isHalf ? "an import half way" : "the genesis file"}`, async t => {
    if (chain === undefined) return notRun(t, "npm run test:nodes was not given --reth FILE");
    const name = `half-${isHalf}`;
    const to = ["--to", `${Math.floor(chain.height / 2)}`];
    for (const [, flags] of isHalf ? EngineFollowers.flags(chain, reth, name) : [])
      assert.ok((await importHere([...flags, ...to])).ok);
    const followers = await EngineFollowers.serve(chain, reth, name);
    t.after(() => followers.stop());
    await followers.compare([]);
  });
