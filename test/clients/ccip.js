/** CCIP-read (EIP-3668) of viem and of ethers, each with its own code for it: slots of layer 2, read by contracts on layer 1. */
import assert from "node:assert/strict";
import {Contract, JsonRpcProvider} from "ethers";
import {createPublicClient, http} from "viem";
import {NotesLayers} from "../../dist/test/support/contracts/notesLayers.js";
import {readFixture} from "../../dist/test/support/reference/fixtures.js";

const HOLDER = "0xc100000000000000000000000000000000000001";
const TITLE = "a title of 21 letters";
const TEXT = `0x${"5a".repeat(1000)}`;

export async function checkCcip() {
  const layers = await NotesLayers.start();
  if (typeof layers === "string") {
    console.log(`CCIP-read is not checked: ${layers}`);
    return;
  }
  const provider = new JsonRpcProvider(layers.parts.layer1.url, undefined, {staticNetwork: true});
  try {
    await layers.parts.notes.send("set", HOLDER, 7n, TITLE, TEXT);
    await layers.finalize();
    const {abi} = readFixture("own/notes").contracts.HashReader;
    const client = createPublicClient({transport: http(layers.parts.layer1.url)});
    for (const [name, {contract}] of Object.entries(layers.readers)) {
      const {address} = contract;
      const ethers = new Contract(address, abi, provider);
      const ways = {
        viem: (functionName, ...args) => client.readContract({address, abi, functionName, args}),
        ethers: (functionName, ...args) => ethers[functionName](...args, {enableCcipRead: true}),
      };
      for (const [way, read] of Object.entries(ways)) {
        assert.equal(await read("total"), 7n);
        assert.equal(await read("amountOf", HOLDER), 7n);
        assert.equal(await read("recordOf", TITLE), TITLE);
        assert.equal(await read("recordOf", "none"), "");
        assert.deepEqual([...(await read("all"))], [7n, TITLE, TEXT]);
        await assert.rejects(read("many", 16n, 2n ** 16n - 1n), error => {
          // viem does not show the message of a gateway.
          const {shortMessage, info, cause} = error;
          const said = way === "ethers" ? info.errorMessage : `status ${cause.cause.status}`;
          console.log(
            `CCIP-read, ${way}, reader by ${name}: all values are right; refused: ${said ?? shortMessage}`,
          );
          return /^status 400$|^the cost of the slots: expected at most 2000/.test(said);
        });
      }
    }
  } finally {
    provider.destroy();
    await layers.stop();
  }
}
