/** `serve --finality tag`: finality by the finalized tag of a layer-2 node. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createLines, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {waitForCoverage, waitForMetric} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {TaggedChain} from "../../support/nodes/taggedChain.ts";

const folder = new WorkFolder();

test("the node's finalized block is marked where its hash is the one here, also while blocks are still missing", async () => {
  const chain = new TaggedChain();
  await chain.upstream.start();
  const url = chain.upstream.url.href;
  const flags = ["--finality", "tag", "--l2", url];
  const daemon = await OwnService.fed(folder.file("tag"), flags);
  try {
    daemon.input.write(encodeLines(createLines(0, 5)));
    await daemon.waitForStderr(
      /names no finalized block: .*finalized block not found.* once its consensus client has/,
    );
    assert.match(
      (await daemon.get("/readyz")).text,
      /the node http:\S+ is down: it names no finalized block/,
    );
    chain.finalized = 9;
    // The node is ahead: its block 5 is compared.
    await waitForCoverage(daemon, "finalized", "0x5");
    assert.equal(await daemon.readMetric("proofd_finality_known_block"), 9);
    assert.doesNotMatch(daemon.stderr, /finality has stopped/);
    // A node that is behind lowers nothing.
    chain.finalized = 3;
    daemon.input.write(encodeLines(createLines(6, 9)));
    await waitForCoverage(daemon, "latest", "0x9");
    chain.hashOf = number => (number === 7 ? hashOfBlock(700) : hashOfBlock(number));
    chain.finalized = 7;
    await daemon.waitForStderr(
      /block 7 has hash 0x\w+ here, but 0x\w+ at the node http:\S+; block 7 is called finalized/,
    );
    assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x5");
    const ready = await daemon.get("/readyz");
    assert.equal(ready.status, 200);
    assert.match(ready.text, /^ready\nfinality has stopped: block 7 has hash/);
    assert.equal(await daemon.readMetric('proofd_finality_state{state="stopped"}'), 1);
    chain.hashOf = hashOfBlock;
    await waitForCoverage(daemon, "finalized", "0x7");
    await daemon.waitForStderr(/finality continues after a stop/);
    chain.refusal = {code: -32602, message: "unknown block tag"};
    chain.finalized = undefined;
    await daemon.waitForStderr(/"reason":"[^"]*unknown block tag[^"]*".*finality has stopped/);
    chain.finalized = 7;
    await waitForMetric(daemon, 'proofd_finality_state{state="stopped"} 0');
    const {origin} = chain.upstream.url;
    assert.doesNotMatch((await daemon.get("/readyz")).text, /finality|node/);
    chain.upstream.handler = (_, response) => response.writeHead(401).end();
    await daemon.waitForStderr(/"state":"down".*401.*a node is down/);
    assert.match((await daemon.get("/readyz")).text, new RegExp(`the node ${origin} is down: .*401`));
    const publicText = await (await fetch(`${daemon.url}/readyz`)).text();
    assert.match(publicText, /^ready\na node is down\nfinality is waiting\nunverified: [^/]*$/);
    await chain.upstream.stop();
    await daemon.waitForStderr(/connection (refused|was lost).*a node is down/);
    assert.match(
      (await daemon.get("/readyz")).text,
      new RegExp(`the node ${origin} is down: (connection refused|the connection was lost)`),
    );
  } finally {
    await daemon.stop();
    await chain.upstream.stop();
  }
});
