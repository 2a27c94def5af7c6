/**
 * Writes demo/genesis.json, demo/chain.rlp and demo/addresses.json, the same bytes each time: node dist/test/support/demo/makeDemoChain.js
 */
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {DEMO_FOLDER} from "../../../demo/artefact.ts";
import {makeDemoFiles} from "./demoStory.ts";

const {genesis, chain, addresses} = await makeDemoFiles();
writeFileSync(join(DEMO_FOLDER, "genesis.json"), genesis);
writeFileSync(join(DEMO_FOLDER, "chain.rlp"), chain);
writeFileSync(join(DEMO_FOLDER, "addresses.json"), addresses);
