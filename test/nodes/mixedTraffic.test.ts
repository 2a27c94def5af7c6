/**
 * proofd follows a geth whose chain has everything that changes accounts and slots, from shanghai to osaka. Each block's changes must
 * give the state root of its header before it is stored, so a block that is held has it.
 */

import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {ENGINE_FORKS, ENGINE_TRAFFIC} from "../support/chains/engineTraffic.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {compareWithGeth, readTouched, type Touched} from "../support/http/gethComparison.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {Geth} from "../support/processes/geth.ts";
import {importHere} from "../support/stores/importedStore.ts";

const COMPARED = 10;

let folder: WorkFolder;
let chain: EngineChain;
let node: Geth;
let touched: Touched;

before(async () => {
  folder = await WorkFolder.create();
  chain = await EngineChain.create(folder.path, ENGINE_FORKS);
  node = await chain.addNode();
  for (const plan of ENGINE_TRAFFIC) await chain.seal(plan);
  touched = await readTouched(node, chain.height);
});

after(async () => {
  await chain?.stop();
  await folder.remove();
});

for (const source of ["execute", "trace"])
  for (const isHalf of [false, true])
    test(`by ${source}, from ${isHalf ? "an import half way" : "the genesis file"}`, async () => {
      const db = folder.file(`${source}-${isHalf}.db`);
      const flags = ["--db", db, "--l2", node.url, "--genesis", chain.genesisPath, "--source", source];
      if (isHalf) assert.ok((await importHere([...flags, "--to", `${Math.floor(chain.height / 2)}`])).ok);
      await withFollower([...flags, "--finalized", "last"], async daemon => {
        await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
        for (let at = 1; at <= COMPARED; at++)
          await compareWithGeth(daemon, node, touched, Math.floor((at * chain.height) / COMPARED));
      });
    });
