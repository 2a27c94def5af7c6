/** The page at `/`: as it is served, and as a browser shows it. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {after, before, type TestContext, test} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {ABSENT_ACCOUNT, ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {Chromium, findChromium} from "../../support/processes/chromium.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {waitUntil} from "../../support/wait.ts";

const ACCOUNT = ACCOUNTS[0] as string;

let service: ProvenService;
let url: string;
/** One browser for all tests: its start costs a second of processor time. undefined if this machine has none. */
let browser: Chromium | undefined;
before(async () => {
  service = await ProvenService.start();
  url = service.daemon.url;
  const program = findChromium();
  if (program !== undefined) browser = await Chromium.start(program, service.path("profile"));
});
after(async () => {
  await browser?.stop();
  await service.stop();
});

test("the page is one file, whose policy allows its own style and script and requests to this server only", async () => {
  const response = await fetch(`${url}/`);
  const {headers} = response;
  assert.equal(response.status, 200);
  assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  const text = await response.text();
  const hashes = ["script", "style"].map(tag => {
    const [whole, ...more] = [...text.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, "g"))];
    assert.ok(whole !== undefined && more.length === 0, `one ${tag}`);
    return `${tag}-src 'sha256-${createHash("sha256")
      .update(whole[1] as string)
      .digest("base64")}'`;
  });
  const policy = (headers.get("content-security-policy") as string).split("; ");
  for (const directive of ["default-src 'none'", ...hashes, "connect-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(directive), directive);
  assert.ok(!policy.some(directive => /unsafe|http|\*/.test(directive)), policy.join("; "));
  const urls = [...text.matchAll(/(?:src|href)=["']?([^"'\s>]*)|url\(([^)]*)\)|@import|\bimport\(/g)];
  assert.deepEqual(
    urls.filter(([, link = ""]) => !/^(#|data:)/.test(link)).map(([found]) => found),
    [],
  );
});

test("HEAD has the same headers without the page, and other verbs are told of both", async () => {
  const [got, head] = await Promise.all([fetch(`${url}/`), fetch(`${url}/`, {method: "HEAD"})]);
  const length = String(Buffer.byteLength(await got.text()));
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, length]);
  assert.equal(head.headers.get("content-security-policy"), got.headers.get("content-security-policy"));
  const put = await fetch(`${url}/`, {method: "PUT"});
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, HEAD, POST"]);
});

/** The browser with the page loaded anew, if this machine has one. */
async function openPage(t: TestContext, width: number, hash = ""): Promise<Chromium | undefined> {
  if (browser === undefined) {
    notRun(t, "no Chromium in PATH");
    return undefined;
  }
  const metrics = {width, height: 900, deviceScaleFactor: 1, mobile: width < 600};
  await browser.send("Emulation.setDeviceMetricsOverride", metrics);
  // Another fragment alone would load nothing.
  await browser.open("about:blank");
  await browser.open(`${url}/${hash}`);
  await browser.until(
    "document.querySelector('#blocks tbody tr') && document.querySelector('#readiness.good')",
  );
  return browser;
}

/** What the page says of the proof that it was asked for last. */
function readVerdict(chromium: Chromium): Promise<string> {
  return chromium.evaluate("document.getElementById('verdict').innerText.replace(/\\n+/g, '\\n')");
}

/** Green is for what is proved under a root that the reader gave. */
function readTone(chromium: Chromium): Promise<string> {
  return chromium.evaluate("document.getElementById('verdict').className");
}

test("somebody with a keyboard proves an account in the browser, then its absence, and a wrong root is refused", async t => {
  const chromium = await openPage(t, 1200);
  if (chromium === undefined) return;
  const focused = () => chromium.evaluate("document.activeElement.id");
  await waitUntil(
    "the field of the address",
    async () => (await focused()) === "address",
    () => chromium.press("Tab"),
  );
  await chromium.type(ACCOUNT);
  await chromium.press("Tab");
  await chromium.type("0x1 9");
  await chromium.press("Tab");
  assert.equal(await focused(), "block");
  await chromium.press("Enter");
  await chromium.until("document.activeElement.id === 'verdict'");
  assert.match(
    (await readVerdict(chromium)).replaceAll("\u202f", ""),
    /^Verified under this server's own root: slot 0x1 is \d+, slot 0x9 is 0\n.*block 4/,
  );
  assert.equal(await readTone(chromium), "verdict plain");

  const call = await service.daemon.call("chain_getProof", [ACCOUNT, ["0x1", "0x9"], `0x${FINALIZED}`]);
  const {account, slots} = service.verify(FINALIZED, ACCOUNT, ["0x1", "0x9"], call);
  const shown = await chromium.evaluate<string[]>(
    "[...document.querySelectorAll('#result .values dd')].map(one => one.innerText)",
  );
  assert.equal(shown[2]?.replaceAll("\u202f", "").split(" ")[0], String(account?.balance));
  assert.ok(shown.at(-2)?.endsWith(` ${slots[0]}`), shown.at(-2));
  assert.equal(shown.at(-1), "zero proved absent");
  const drawn = await chromium.evaluate<string>("document.querySelector('.path').getAttribute('aria-label')");
  assert.match(
    drawn,
    /^Path from root 0x.* down to leaf \d+: \d+ siblings with a hash, \d+ empty sub-trees$/,
  );
  assert.equal(await chromium.evaluate("document.querySelectorAll('.path circle:not(.own)').length"), 40);

  assert.match(
    await chromium.evaluate("document.getElementById('methods-list').innerText"),
    /^chain_getProofAt\(address, storageKeys, block, suite\?\)$/m,
  );
  const curl = await chromium.evaluate<string>("document.querySelector('pre').textContent");
  const {result} = await service.daemon.send(JSON.parse(/-d '(.*)'$/.exec(curl)?.[1] as string));
  assert.deepEqual(result.proof, call.result);

  await ask(chromium, {address: ABSENT_ACCOUNT, slots: ""});
  assert.match(
    await readVerdict(chromium),
    /^Verified under this server's own root: there is no such account\n/,
  );
  assert.equal(await chromium.evaluate("document.querySelectorAll('.path').length"), 2);
  await ask(chromium, {root: encodeHex(service.root(FINALIZED - 1))});
  assert.match(await readVerdict(chromium), /^Refused\n.*does not hash to the trusted root/);
  assert.match(
    await chromium.evaluate("document.querySelector('.path .wrong').textContent"),
    /^another root/,
  );
  await ask(chromium, {block: String(FINALIZED - 1)});
  assert.match(
    await readVerdict(chromium),
    /^Proved: there is no such account\n.*block 3.*\n.*You gave the root/s,
  );
  assert.equal(await readTone(chromium), "verdict good");
  await ask(chromium, {block: "99"});
  assert.match(await readVerdict(chromium), /^No proof\n/);
  await ask(chromium, {address: "0x12"}, "document.activeElement.id === 'address'");
  assert.match(await chromium.evaluate("document.getElementById('address-problem').innerText"), /got “0x12”/);

  assert.deepEqual(chromium.complaints, []);
  const foreign = chromium.requested.filter(one => !one.startsWith(`${url}/`) && !one.startsWith("data:"));
  assert.deepEqual(foreign, []);
});

/** Fills fields and sends the form. @param answered - holds when the answer is there */
async function ask(
  chromium: Chromium,
  texts: Readonly<Record<string, string>>,
  answered = "document.activeElement.id === 'verdict'",
): Promise<void> {
  for (const [id, text] of Object.entries(texts))
    await chromium.evaluate(`document.getElementById("${id}").value = "${text}"`);
  await chromium.evaluate(
    "document.activeElement.blur(), document.getElementById('request').requestSubmit()",
  );
  await chromium.until(answered);
}

/** A node of the tree that a screen reader gets. */
interface AccessibleNode {
  readonly ignored: boolean;
  readonly role?: {readonly value: string};
  readonly name?: {readonly value: string};
}

test("every field, button and drawing has a name to be read out, in either colour scheme and on a phone, where each is large enough", async t => {
  const chromium = await openPage(t, 390, `#address=${ACCOUNT}&slots=0x1`);
  if (chromium === undefined) return;
  await chromium.until("document.getElementById('verdict')");
  const {nodes} = await chromium.send<{nodes: AccessibleNode[]}>("Accessibility.getFullAXTree");
  const kinds = ["textbox", "combobox", "button", "image", "table", "region"];
  const met = new Map<string, string[]>();
  for (const {role, name, ignored} of nodes)
    if (!ignored && role !== undefined && kinds.includes(role.value))
      met.set(role.value, [...(met.get(role.value) ?? []), name?.value ?? ""]);
  assert.deepEqual([...met.keys()].sort(), kinds.filter(kind => met.has(kind)).sort());
  for (const kind of ["textbox", "button", "image"]) assert.ok((met.get(kind)?.length ?? 0) > 0, kind);
  for (const [role, names] of met) for (const name of names) assert.notEqual(name, "", role);
  assert.equal(await chromium.evaluate("document.documentElement.scrollWidth"), 390);
  const small = await chromium.evaluate<string[]>(
    "[...document.querySelectorAll('a, button, summary')].filter(one => one.offsetHeight > 0 && one.offsetHeight < 44).map(one => one.outerHTML)",
  );
  assert.deepEqual(small, [], "each is large enough for a finger");
  const slots = "document.getElementById('slots')";
  await chromium.evaluate(`${slots}.value = '0x${"1".repeat(64)}'`);
  assert.ok(
    await chromium.evaluate(`${slots}.scrollHeight <= ${slots}.clientHeight`),
    "a slot is seen whole",
  );

  const grounds = [];
  for (const value of ["light", "dark"]) {
    await chromium.send("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value}]});
    grounds.push(await chromium.evaluate("getComputedStyle(document.body).backgroundColor"));
  }
  assert.deepEqual(grounds, ["rgb(246, 247, 249)", "rgb(19, 21, 24)"]);
  assert.deepEqual(chromium.complaints, []);
});
