/** How `proofd serve` ends after a signal. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {pino} from "pino";
import {endAfter} from "../../../../cli/commands/serveCommand.ts";
import {ExitCode} from "../../../../cli/exitCode.ts";
import {Parts} from "../../../../server/lifecycle/parts.ts";

const LOG = pino({enabled: false});

test("a service whose parts end has exit code 0, and one with a part that hangs is an error that names it", async () => {
  const parts = new Parts(LOG);
  const service = {stop: () => parts.stop(1), failed: new Promise<never>(() => {})};
  assert.equal(await endAfter(Promise.resolve("SIGTERM"), service, LOG), ExitCode.OK);
  await parts.start({name: "the import", start: () => () => new Promise(() => {})});
  await assert.rejects(endAfter(Promise.resolve("SIGINT"), service, LOG), {
    name: "WorkError",
    message: "expected an end within 1 ms; still open: the import",
  });
});
