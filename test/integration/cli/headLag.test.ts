/** The age of the newest block, in /metrics and /readyz. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {createLine, WorkFolder} from "../../support/chains/serviceChain.ts";
import {
  readReadiness,
  unverified,
  waitForHead,
  waitForState,
  withFollowing,
} from "../../support/http/followingDaemon.ts";
import type {OwnService} from "../../support/http/ownService.ts";

describe("the newest block's age", () => {
  let folder: WorkFolder;
  let count = 0;

  before(async () => {
    folder = await WorkFolder.create();
  });
  after(() => folder.remove());

  /** @param body - runs when block 0, which is `line`, is held */
  async function serve(line: DifferenceLine, body: (daemon: OwnService) => Promise<void>): Promise<void> {
    const run = async (daemon: OwnService): Promise<void> => {
      daemon.input.write(encodeLines([line]));
      await waitForHead(daemon, 0);
      await body(daemon);
    };
    await withFollowing(folder.file(`${count++}`), run);
  }

  test("is told, and does not matter to readiness without ?lag=", () =>
    serve(createLine(0, 0), async daemon => {
      assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_700_000_000);
      const lag = await daemon.readMetric("proofd_head_lag_seconds");
      const received = await daemon.readMetric("proofd_block_received_timestamp_seconds");
      assert.ok(lag >= received - 1_700_000_000, `lag ${lag}, received ${received}`);
      daemon.input.end();
      await waitForState(daemon, "ended");
      assert.deepEqual(await readReadiness(daemon), [200, `ready\n${unverified(0, 0)}`]);
    }));

  test("beyond ?lag= makes the service unready, with the reason in the body", () =>
    serve(createLine(0, 0), async daemon => {
      const [status, text] = await readReadiness(daemon, 3600);
      assert.equal(status, 503);
      assert.match(
        text,
        /^the newest block, 0, is \d+ s old: asked for at most 3600 s \(state of the source: \w+\)\nunverified: [^\n]+\n$/,
      );
    }));

  test("counts from when the block came where its line has no timestamp", () => {
    const {timestamp: _, ...timeless} = createLine(0, 0);
    return serve(timeless, async daemon => {
      assert.deepEqual(await readReadiness(daemon, 3600), [200, `ready\n${unverified(0, 0)}`]);
      const {text} = await daemon.get("/metrics");
      assert.doesNotMatch(text, /^proofd_head_timestamp_seconds /m);
      assert.match(text, /^proofd_head_lag_seconds \d/m);
    });
  });
});
