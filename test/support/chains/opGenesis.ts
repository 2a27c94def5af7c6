/** The genesis file of chains that OpChain makes: that of the registry, whose forks come at blocks of the test's choice. */
import {readFileSync} from "node:fs";
import {OP_GENESIS} from "../processes/opGethFiles.ts";
import {PEOPLE} from "./people.ts";

export const OP_CHAIN_ID = 777_777;
const BLOCK_SECONDS = 2;
/** Of block 0: 1 January 2025. */
const GENESIS_SECONDS = 1_735_689_600;
/** create2Deployer. Chains that began before canyon get its code at that fork. */
export const CREATE2_DEPLOYER = "0x13b0d85ccb8bf860b6b79af3029fca081ae9bef2";

/** After regolith, which is there from block 0 on. */
type OpFork = "canyon" | "ecotone" | "holocene" | "isthmus" | "jovian";
/** The first block under each fork's rules. */
export type OpForkBlocks = Readonly<Record<OpFork, number>>;

/** Forks of Ethereum, and of the OP stack, that come with these. */
const TOGETHER: Readonly<Record<OpFork, readonly string[]>> = {
  canyon: ["shanghai"],
  ecotone: ["cancun", "fjord", "granite"],
  holocene: [],
  isthmus: ["prague"],
  jovian: [],
};
const RICH = `0x${(10n ** 21n).toString(16)}`;

/** @returns the text: PEOPLE have ether, and create2Deployer a balance, but no code */
export function makeOpGenesis(forks: OpForkBlocks): string {
  const {config, alloc, ...fields} = JSON.parse(readFileSync(OP_GENESIS, "utf8"));
  const times = Object.entries(forks).flatMap(([fork, block]) =>
    [fork, ...TOGETHER[fork as OpFork]].map(name => [`${name}Time`, timeOf(block)]),
  );
  const people = PEOPLE.map(address => [address.slice(2), {balance: RICH}]);
  return JSON.stringify({
    ...fields,
    timestamp: `0x${GENESIS_SECONDS.toString(16)}`,
    // As in files of chains from before ecotone.
    ...{excessBlobGas: null, blobGasUsed: null},
    config: {...config, chainId: OP_CHAIN_ID, ...Object.fromEntries(times)},
    alloc: {...alloc, ...Object.fromEntries(people), [CREATE2_DEPLOYER.slice(2)]: {balance: "0x5"}},
  });
}

/** Seconds. */
export function timeOf(block: number): number {
  return GENESIS_SECONDS + block * BLOCK_SECONDS;
}
