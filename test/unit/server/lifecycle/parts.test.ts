/** In which order parts start and stop, and what is said of one that does not. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {pino} from "pino";
import {type Part, Parts, type Stop} from "../../../../server/lifecycle/parts.ts";

/** Has started parts with these stops, the first one first. */
async function startAll(stops: Readonly<Record<string, Stop>>, log = pino({enabled: false})): Promise<Parts> {
  const parts = new Parts(log);
  for (const [name, stop] of Object.entries(stops)) await parts.start({name, start: () => stop});
  return parts;
}

test("parts stop one after the other, the last one first", async () => {
  const stopped: string[] = [];
  const stop = (name: string) => async () => {
    await new Promise(setImmediate);
    stopped.push(name);
  };
  const parts = await startAll({a: stop("a"), b: stop("b"), c: stop("c")});
  await parts.stop(60_000);
  assert.deepEqual(stopped, ["c", "b", "a"]);
});

test("a part that hangs and one that fails are named in the log and in the error, and the others are stopped all the same", async () => {
  const lines: string[] = [];
  const log = pino({base: null}, {write: (line: string) => lines.push(line)});
  let end = (): void => {};
  let isStoreClosed = false;
  const parts = await startAll(
    {
      "the store": () => {
        isStoreClosed = true;
      },
      finality: () => Promise.reject(new Error("refused")),
      threads: (_, onWait) => {
        onWait("proof threads");
        return new Promise(resolve => {
          end = () => resolve();
        });
      },
    },
    log,
  );
  await assert.rejects(parts.stop(1000), {
    name: "WorkError",
    message: "expected an end within 1000 ms; still open: proof threads; finality failed to stop: refused",
  });
  assert.ok(isStoreClosed);
  const logged = lines.map(line => JSON.parse(line)).map(({part, msg}) => `${part}: ${msg}`);
  assert.deepEqual(logged, [
    "threads: a part has not stopped in time; the others are stopped",
    "finality: a part failed to stop; the others are stopped",
  ]);
  end();
  await assert.rejects(parts.stop(1000), {message: "finality failed to stop: refused"});
});

test("a part that has not stopped in its share gets what the others leave", async () => {
  let end = (): void => {};
  const ended = new Promise<void>(resolve => {
    end = () => setImmediate(resolve);
  });
  const parts = await startAll({"the store": () => end(), publishing: () => ended});
  await parts.stop(1000);
});

test("a part gets its share of the time that is left", async () => {
  const given: number[] = [];
  const parts = new Parts(pino({enabled: false}));
  const part = (name: string, share: number): Part => ({name, share, start: () => ms => void given.push(ms)});
  for (const one of [part("a", 1), part("b", 0.5)]) await parts.start(one);
  await parts.stop(60_000);
  const [b = 0, a = 0] = given;
  assert.ok(b <= 30_000 && a > b && a <= 60_000, `${given}`);
});
