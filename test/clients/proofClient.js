/** proofd-client under viem, and its verifier under ethers, as client/README.md shows them. */
import assert from "node:assert/strict";
import {JsonRpcProvider} from "ethers";
import {createPublicClient, http} from "viem";
import {
  createProofClient,
  decodeHex,
  poseidon2Suite,
  verifyEthProof,
  verifyProof,
} from "../../client/dist/client.js";

export async function checkProofClient(url, {lastBlock, account, absent, token}) {
  const server = createProofClient({url, verify: false});
  const {stateRoot} = await server.getStateRoot({block: lastBlock});
  const trust = {suite: poseidon2Suite, trustedRoot: stateRoot};
  await checkViem(url, trust, {lastBlock, account, absent, token});
  await checkEthers(url, decodeHex(stateRoot), {lastBlock, token});
  const {header} = await server.getHeader({block: lastBlock});
  await checkViemProof(url, decodeHex(header.stateRoot), {lastBlock, absent, token});
}

async function checkViem(url, trust, {lastBlock, account, absent, token}) {
  const {request} = createPublicClient({transport: http(url, {batch: true})});
  const client = createProofClient({request, ...trust});
  const storageKeys = [token.holderBalanceSlot];
  const [proof, none] = await Promise.all([
    client.getProof({address: token.address, storageKeys}),
    client.getProof({address: absent.address, block: lastBlock}),
  ]);
  assert.equal(proof.block, BigInt(lastBlock));
  assert.equal(none.account, undefined);
  const multi = await client.getMultiProof({
    entries: [
      {address: token.address, storageKeys},
      {address: account.address, storageKeys: []},
    ],
  });
  assert.deepEqual(multi.entries[0].slots, proof.slots);
  const call = {from: account.address, to: absent.address, value: 1n};
  const {gasLimit} = await client.estimateGas({call});
  await assert.rejects(client.getProof({address: absent.address, block: lastBlock + 1}), {
    code: -32001,
  });
  const other = createProofClient({request, ...trust, trustedRoot: `0x${"00".repeat(32)}`});
  await assert.rejects(other.getProof({address: absent.address}), {code: "PROOF_REFUSED"});
  console.log(
    `viem request: block ${proof.block}, slot ${proof.slots[0]}, a multiproof of ${multi.proof.length} bytes, gas ${gasLimit}`,
  );
}

async function checkViemProof(url, root, {lastBlock, absent, token}) {
  const node = createPublicClient({transport: http(url)});
  const storageKeys = [token.holderBalanceSlot, "0x1"];
  for (const {address} of [token, absent]) {
    const proof = await node.getProof({address, storageKeys, blockNumber: BigInt(lastBlock)});
    const {account, slots} = verifyEthProof(root, address, storageKeys, proof);
    console.log(`viem getProof and verifyEthProof: ${account ? "present" : "absent"}, slots ${slots}`);
  }
}

async function checkEthers(url, root, {lastBlock, token}) {
  const provider = new JsonRpcProvider(url);
  try {
    const keys = [token.holderBalanceSlot];
    const block = `0x${lastBlock.toString(16)}`;
    const result = await provider.send("chain_getProof", [token.address, keys, block]);
    const {slots} = verifyProof(poseidon2Suite, root, token.address, keys, result);
    console.log(`ethers send and verifyProof: slot ${slots[0]}`);
  } finally {
    provider.destroy();
  }
}
