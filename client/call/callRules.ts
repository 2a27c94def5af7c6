/** The rules that a call runs under. */
import {Common, Mainnet} from "@ethereumjs/common";
import {type EVMOpts, getOpcodesForHF, paramsEVM} from "@ethereumjs/evm";
import {Address} from "@ethereumjs/util";
import {encodeHex} from "../bytes/hex.ts";
import {word} from "../hash/hashSuites.ts";
import {check} from "../proof/strictJson.ts";
import type {CallHeader} from "./callHeaders.ts";

export type Hardfork = "berlin" | "london" | "paris" | "shanghai" | "cancun" | "prague" | "osaka";

/** The newest fork whose headers have so many fields. */
const FORKS: Readonly<Record<number, Hardfork>> = {
  ...{15: "berlin", 16: "paris", 17: "shanghai", 20: "cancun", 21: "osaka"},
};
const EXTCODEHASH = 0x3f;

/** @throws ProofError */
export function forkOf({fieldCount, difficulty}: CallHeader): Hardfork {
  const fork = fieldCount === 16 && difficulty > 0n ? "london" : FORKS[fieldCount];
  check(fork !== undefined, "witness.headers", `${fieldCount} fields a header: expected the option hardfork`);
  return fork;
}

/** @param chainId - undefined: CHAINID fails */
export function createRules(hardfork: Hardfork, chainId: number | bigint | undefined): Common {
  const rules = new Common({chain: Mainnet, hardfork, params: paramsEVM});
  rules.chainId = () => {
    check(
      chainId !== undefined,
      "call",
      "reads the chain id, which nothing proves: expected the option chainId",
    );
    return BigInt(chainId);
  };
  return rules;
}

/** @param isCreation - `data` is initcode. @returns the gas that is left for the EVM. @throws ProofError */
export function executionGas(rules: Common, gas: bigint, data: Uint8Array, isCreation: boolean): bigint {
  const zeros = data.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  const initcodeWords = isCreation && rules.isActivatedEIP(3860) ? Math.ceil(data.length / 32) : 0;
  const paid = 21_000 + 16 * data.length - 12 * zeros + (isCreation ? 32_000 : 0) + 2 * initcodeWords;
  check(paid <= gas, "call", `expected at least ${paid} gas, got ${gas}`);
  return gas - BigInt(paid);
}

/**
 * EXTCODEHASH by the account alone. The library's own also reads the code, which a witness need not have, to see whether it
 * has the format EOF. No hard fork has that.
 */
export function createExtCodeHash(rules: Common): NonNullable<EVMOpts["customOpcodes"]>[number] {
  const gasFunction = getOpcodesForHF(rules).dynamicGasHandlers.get(EXTCODEHASH);
  if (gasFunction === undefined) throw new Error("@ethereumjs/evm has no gas of EXTCODEHASH");
  return {
    ...{opcode: EXTCODEHASH, opcodeName: "EXTCODEHASH", baseFee: 0, gasFunction},
    async logicFunction({stack, stateManager}) {
      const account = await stateManager.getAccount(new Address(word(stack.pop()).subarray(12)));
      stack.push(account === undefined || account.isEmpty() ? 0n : BigInt(encodeHex(account.codeHash)));
    },
  };
}
