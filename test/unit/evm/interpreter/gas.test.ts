/** What opcodes take, leave and cost under each fork, and the edges of other numbers, against tables of the EIPs. */
import {test} from "node:test";
import {EvmKit} from "../../../support/evm/evmKit.ts";
import {OPCODE_CASES} from "../../../support/evm/opcodeCases.ts";
import {PARAM_CASES} from "../../../support/evm/paramCases.ts";
import {FORKS} from "../../../support/evm/randomState.ts";

const kits = FORKS.map(fork => new EvmKit(fork));

for (const {title, since = "berlin", check} of [...OPCODE_CASES, ...PARAM_CASES])
  test(title, () => {
    for (const kit of kits) if (kit.has(since)) check(kit);
  });
