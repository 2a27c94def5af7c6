/** What opcodes, memory, slots, calls and creations cost under each fork, against tables and formulas of the EIPs. */
import {test} from "node:test";
import {EvmKit} from "../../../support/evm/evmKit.ts";
import {GAS_CASES} from "../../../support/evm/gasCases/allCases.ts";
import {FORKS} from "../../../support/evm/randomState.ts";

const kits = FORKS.map(fork => new EvmKit(fork));

for (const {title, since = "berlin", check} of GAS_CASES)
  test(title, () => {
    for (const kit of kits) if (kit.has(since)) check(kit);
  });
