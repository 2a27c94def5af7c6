/** The example contracts of contracts/ on anvil: a root is recorded or read, and a proof under it pays once. */
import assert from "node:assert/strict";
import {after, before, type TestContext, test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {compact} from "../../../client/compact/compactProof.ts";
import {sha256Suite, word} from "../../../client/hash/hashSuites.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {sendTransaction} from "../../support/contracts/transactions.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";

const LAYER_2_CONTRACT = "0x2400000000000000000000000000000000000000";
const MAPPING_SLOT = 5n;
const OWED = 10n ** 18n;
const CREDITOR = `0x${"c1".repeat(20)}`;
const STRANGER = `0x${"c2".repeat(20)}`;
const ROLLUP = `0x${"d1".repeat(20)}`;
const NOBODY = `0x${"00".repeat(20)}`;

function slotOf(claimant: string): string {
  return encodeHex(keccak_256(Buffer.concat([new Uint8Array(12), decodeHex(claimant), word(MAPPING_SLOT)])));
}

/** Layer 2, where the creditor is owed an amount at block 0. */
const state = new ReferenceState(sha256Suite, [
  {
    number: "0x0",
    hash: encodeHex(word(0)),
    accounts: {
      [LAYER_2_CONTRACT]: {
        code: "0x6001",
        storage: {[slotOf(CREDITOR)]: `0x${OWED.toString(16)}`, "0x7": "0x1"},
      },
    },
  },
]);
const root = encodeHex(state.stateRoot(0));

function prove(claimant: string): Uint8Array {
  const request = {address: LAYER_2_CONTRACT, storageKeys: [slotOf(claimant)]};
  return compact(sha256Suite, request, state.prove(0, request.address, request.storageKeys));
}

let anvil: Anvil | string;

before(async () => {
  anvil = await Anvil.start(["--hardfork", "osaka"]);
});

after(async () => {
  if (typeof anvil !== "string") await anvil.stop();
});

/** @returns undefined after marking the test as skipped, if there is no anvil */
function layer1(t: TestContext): Anvil | undefined {
  if (typeof anvil !== "string") return anvil;
  notRun(t, anvil);
  return undefined;
}

async function firstAccount(chain: Anvil): Promise<string> {
  return (await chain.request<readonly [string]>("eth_accounts"))[0];
}

async function createClaim(chain: Anvil, oracle: DeployedContract) {
  const verifier = await DeployedContract.create(chain, "Sha256ProofVerifier");
  const addresses = [verifier.address, oracle.address] as const;
  const claim = await DeployedContract.create(
    chain,
    "Claim",
    ...addresses,
    0n,
    LAYER_2_CONTRACT,
    MAPPING_SLOT,
  );
  await sendTransaction(chain, {to: claim.address, value: `0x${(3n * OWED).toString(16)}`});
  return {verifier, claim};
}

test("a claim with a proof under the recorded root is paid once, whoever sends it", async t => {
  const chain = layer1(t);
  if (chain === undefined) return;
  const oracle = await DeployedContract.create(chain, "StateRootOracle", await firstAccount(chain), NOBODY);
  const {verifier, claim} = await createClaim(chain, oracle);
  const proof = encodeHex(prove(CREDITOR));
  assert.equal(await claim.read("slotOf", CREDITOR), slotOf(CREDITOR));
  assert.equal(await claim.refusal("claim", [CREDITOR, proof], {errorsOf: oracle}), "NoRoot");

  await oracle.send("record", 0n, root);
  const forged = encodeHex(prove(CREDITOR).with(60, 0xff));
  assert.equal(await claim.refusal("claim", [CREDITOR, forged], {errorsOf: verifier}), "RootMismatch");
  assert.equal(await claim.refusal("claim", [STRANGER, encodeHex(prove(STRANGER))]), "NothingOwed");
  assert.equal(
    await claim.refusal("claim", [STRANGER, proof], {errorsOf: verifier}),
    "RootMismatch",
    "the proof of another's slot",
  );

  await claim.send("claim", CREDITOR, proof);
  assert.equal(BigInt(await chain.request<string>("eth_getBalance", CREDITOR, "latest")), OWED);
  assert.equal(await claim.refusal("claim", [CREDITOR, proof]), "AlreadyPaid");
});

test("the oracle takes roots from its source alone, and never changes one", async t => {
  const chain = layer1(t);
  if (chain === undefined) return;
  const oracle = await DeployedContract.create(chain, "StateRootOracle", await firstAccount(chain), NOBODY);
  assert.equal(await oracle.refusal("record", [1n, root], {from: STRANGER}), "NotTheSource");
  assert.equal(await oracle.refusal("record", [1n, encodeHex(word(0))]), "RootIsZero");
  await oracle.send("record", 1n, root);
  await oracle.send("record", 1n, root);
  assert.equal(await oracle.refusal("record", [1n, encodeHex(word(1))]), "AnotherRootIsRecorded");
  assert.equal(await oracle.read("stateRoot", 1n), root);
  assert.equal(await oracle.refusal("stateRoot", [2n]), "NoRoot");
});

test("the oracle reads roots from the rollup's contract where it knows that", async t => {
  const chain = layer1(t);
  if (chain === undefined) return;
  // A contract that answers every call with the root: PUSH32 root, MSTORE at 0, RETURN 32 bytes.
  const runtime = `7f${root.slice(2)}5f5260205ff3`;
  await chain.request("anvil_setCode", ROLLUP, `0x${runtime}`);
  const oracle = await DeployedContract.create(chain, "StateRootOracle", NOBODY, ROLLUP);
  assert.equal(await oracle.read("stateRoot", 0n), root);
  const {claim} = await createClaim(chain, oracle);
  const before = BigInt(await chain.request<string>("eth_getBalance", CREDITOR, "latest"));
  await claim.send("claim", CREDITOR, encodeHex(prove(CREDITOR)));
  assert.equal(BigInt(await chain.request<string>("eth_getBalance", CREDITOR, "latest")), before + OWED);
});
