/** The example contracts of contracts/ on anvil: a root is recorded or read, and a proof under it pays once. */
import assert from "node:assert/strict";
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {compact} from "../../../client/compact/compactProof.ts";
import {sha256Suite, word} from "../../../client/hash/hashSuites.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {sendTransaction} from "../../support/contracts/transactions.ts";
import type {Anvil} from "../../support/processes/anvil.ts";
import {createAnvilTest} from "../../support/processes/anvilTest.ts";
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

const testLayer1 = createAnvilTest(["--hardfork", "osaka"]);

async function createOracle(chain: Anvil, rollup = NOBODY): Promise<DeployedContract> {
  const [source] = await chain.request<readonly [string]>("eth_accounts");
  return DeployedContract.create(chain, "StateRootOracle", source, rollup);
}

async function createClaim(chain: Anvil, oracle: DeployedContract) {
  const verifier = await DeployedContract.create(chain, "Sha256ProofVerifier");
  const values = [verifier.address, oracle.address, 0n, LAYER_2_CONTRACT, MAPPING_SLOT];
  const claim = await DeployedContract.create(chain, "Claim", ...values);
  await sendTransaction(chain, {to: claim.address, value: `0x${(3n * OWED).toString(16)}`});
  return {verifier, claim};
}

async function createClaimAtRoot(chain: Anvil) {
  const oracle = await createOracle(chain);
  await oracle.send("record", 0n, root);
  return createClaim(chain, oracle);
}

async function balanceOf(chain: Anvil, address: string): Promise<bigint> {
  return BigInt(await chain.request<string>("eth_getBalance", address, "latest"));
}

async function countEvents(chain: Anvil, {address}: DeployedContract): Promise<number> {
  return (await chain.request<readonly unknown[]>("eth_getLogs", {address, fromBlock: "0x0"})).length;
}

/** Code that calls a contract and ends well, whatever the call did. @param callData - 0x text */
function codeThatCalls({address}: DeployedContract, callData: string): string {
  const length = ((callData.length - 2) / 2).toString(16).padStart(4, "0");
  // CODECOPY(0, 39, length), CALL(gas, address, 0, 0, length, 0, 0), STOP: 39 bytes.
  return `0x61${length}6100275f395f5f61${length}5f5f73${address.slice(2)}5af100${callData.slice(2)}`;
}

testLayer1("a claim with a proof under the recorded root is paid once, whoever sends it", async chain => {
  const oracle = await createOracle(chain);
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
  assert.equal(await balanceOf(chain, CREDITOR), OWED);
  assert.equal(await claim.refusal("claim", [CREDITOR, proof]), "AlreadyPaid");
});

testLayer1("a payment that the claimant refuses is no payment: it can be claimed again", async chain => {
  const {claim} = await createClaimAtRoot(chain);
  const proof = encodeHex(prove(CREDITOR));
  const before = await balanceOf(chain, CREDITOR);
  await chain.request("anvil_setCode", CREDITOR, "0x5f5ffd"); // PUSH0, PUSH0, REVERT
  assert.equal(await claim.refusal("claim", [CREDITOR, proof]), "PaymentFailed");
  await chain.request("anvil_setCode", CREDITOR, "0x");
  await claim.send("claim", CREDITOR, proof);
  assert.equal(await balanceOf(chain, CREDITOR), before + OWED);
});

testLayer1("a claimant that claims again while it is paid is paid once", async chain => {
  const {claim} = await createClaimAtRoot(chain);
  const proof = encodeHex(prove(CREDITOR));
  const before = await balanceOf(chain, CREDITOR);
  await chain.request(
    "anvil_setCode",
    CREDITOR,
    codeThatCalls(claim, claim.encode("claim", CREDITOR, proof)),
  );
  await claim.send("claim", CREDITOR, proof);
  await chain.request("anvil_setCode", CREDITOR, "0x");
  assert.equal(await balanceOf(chain, CREDITOR), before + OWED);
  assert.equal(await countEvents(chain, claim), 1);
});

/** Sends a claim of a creditor whose code is `code`. @returns the gas that the transaction used */
async function gasOfPaying(chain: Anvil, code: string): Promise<number> {
  const {claim} = await createClaimAtRoot(chain);
  await chain.request("anvil_setCode", CREDITOR, code);
  return Number((await claim.send("claim", CREDITOR, encodeHex(prove(CREDITOR)))).gasUsed);
}

testLayer1(
  "what a claimant returns costs the sender nothing, and a megabyte is more than the payment may cost",
  async chain => {
    // PUSH3 200 000, then PUSH0, RETURN; or, with the same memory, MLOAD, STOP.
    const returning = await gasOfPaying(chain, "0x62030d405ff3");
    const silent = await gasOfPaying(chain, "0x62030d205100");
    assert.ok(silent > 150_000, `${silent} gas: the claimant's memory is in it`);
    assert.ok(Math.abs(returning - silent) < 50, `${returning} gas with 200 000 bytes, ${silent} with none`);
    const {claim} = await createClaimAtRoot(chain);
    await chain.request("anvil_setCode", CREDITOR, "0x621000005ff3");
    assert.equal(await claim.refusal("claim", [CREDITOR, encodeHex(prove(CREDITOR))]), "PaymentFailed");
    await chain.request("anvil_setCode", CREDITOR, "0x");
  },
);

testLayer1("the oracle takes roots from its source alone, and never changes one", async chain => {
  const oracle = await createOracle(chain);
  assert.equal(await oracle.refusal("record", [1n, root], {from: STRANGER}), "NotTheSource");
  assert.equal(await oracle.refusal("record", [1n, encodeHex(word(0))]), "RootIsZero");
  await oracle.send("record", 1n, root);
  await oracle.send("record", 1n, root);
  assert.equal(await oracle.refusal("record", [1n, encodeHex(word(1))]), "AnotherRootIsRecorded");
  assert.equal(await countEvents(chain, oracle), 1);
  assert.equal(await oracle.read("stateRoot", 1n), root);
  assert.equal(await oracle.refusal("stateRoot", [2n]), "NoRoot");
  assert.equal(
    BigInt((await oracle.read("stateRootHashes", 2n)) as string),
    0n,
    "as a rollup's contract answers",
  );
  assert.equal(await oracle.refusal("record", [0n, root]), "LaterBlockIsRecorded");
});

testLayer1(
  "the oracle says what is recorded by the event of a rollup's contract, in which each range follows the one before",
  async chain => {
    const oracle = await createOracle(chain);
    const [first, second] = [encodeHex(word(1)), encodeHex(word(2))];
    await oracle.send("record", 0n, first);
    await oracle.send("record", 7n, second);
    const filter = {address: oracle.address, fromBlock: "0x0"};
    const events = await chain.request<readonly {topics: string[]; data: string}[]>("eth_getLogs", filter);
    const signature = "DataFinalizedV3(uint256,uint256,bytes32,bytes32,bytes32)";
    const topics = (start: number, end: number): string[] => [
      encodeHex(keccak_256(Buffer.from(signature))),
      ...[start, end, 0].map(number => encodeHex(word(number))),
    ];
    const nothing = encodeHex(word(0));
    assert.deepEqual(
      events.map(({topics, data}) => ({topics, data})),
      [
        {topics: topics(0, 0), data: nothing + first.slice(2)},
        {topics: topics(1, 7), data: first + second.slice(2)},
      ],
    );
  },
);

testLayer1("the oracle reads roots from the rollup's contract where it knows that", async chain => {
  // A contract that answers every call with the root: PUSH32 root, MSTORE at 0, RETURN 32 bytes.
  const runtime = `7f${root.slice(2)}5f5260205ff3`;
  await chain.request("anvil_setCode", ROLLUP, `0x${runtime}`);
  const oracle = await DeployedContract.create(chain, "StateRootOracle", NOBODY, ROLLUP);
  assert.equal(await oracle.read("stateRoot", 0n), root);
  const recording = await createOracle(chain, ROLLUP);
  await recording.send("record", 0n, encodeHex(word(1)));
  assert.equal(await recording.read("stateRoot", 0n), encodeHex(word(1)), "what is recorded comes first");
  assert.equal(await recording.read("stateRoot", 1n), root);
  const {claim} = await createClaim(chain, oracle);
  const before = await balanceOf(chain, CREDITOR);
  await claim.send("claim", CREDITOR, encodeHex(prove(CREDITOR)));
  assert.equal(await balanceOf(chain, CREDITOR), before + OWED);
});
