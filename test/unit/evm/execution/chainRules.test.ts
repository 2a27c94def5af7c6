/** The rules of a chain against those of @ethereumjs' Common, which forgets nothing and remembers nothing. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {paramsBlock} from "@ethereumjs/block";
import {Common, Mainnet} from "@ethereumjs/common";
import {paramsEVM} from "@ethereumjs/evm";
import {paramsTx} from "@ethereumjs/tx";
import {paramsVM} from "@ethereumjs/vm";
import {ChainRules} from "../../../../evm/execution/chainRules.ts";
import {HARDFORKS} from "../../../../workers/messages/estimateSettings.ts";

const EIPS = Array.from({length: 10_000}, (_, eip) => eip);
/** In the order in which a block's execution merges them, which matters where two of them differ. */
const PARAMS = [paramsBlock, paramsTx, paramsEVM, paramsVM, paramsBlock, paramsTx, paramsTx];
const NAMES = [...new Set(PARAMS.flatMap(params => Object.values(params).flatMap(eip => Object.keys(eip))))];

function describe(rules: Common): object {
  const known = NAMES.map(name => {
    try {
      return [name, rules.param(name)];
    } catch {
      return [name, undefined];
    }
  });
  return {eips: EIPS.filter(eip => rules.isActivatedEIP(eip)), params: Object.fromEntries(known)};
}

test("EIPs and parameters of every fork are those of the library", () => {
  const rules = new ChainRules({chain: Mainnet});
  for (const params of PARAMS) rules.updateParams(params);
  for (const hardfork of HARDFORKS) {
    const plain = new Common({chain: Mainnet, hardfork});
    for (const params of PARAMS) plain.updateParams(params);
    rules.setHardfork(hardfork);
    assert.deepEqual(describe(rules), describe(plain), hardfork);
  }
});

test("a copy has its own fork and its own parameters", () => {
  const rules = new ChainRules({chain: Mainnet, hardfork: "london"});
  const before = describe(rules);
  const copy = rules.copy();
  copy.setHardfork("prague");
  copy.updateParams(paramsEVM);
  assert.equal(copy.isActivatedEIP(7702), true);
  assert.deepEqual(describe(rules), before);
  rules.updateParams(paramsEVM);
  assert.equal(rules.param("stackLimit"), copy.param("stackLimit"));
});
