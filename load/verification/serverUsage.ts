/** CPU time and memory from the server's /metrics, by the names of Prometheus' client libraries. */
const CPU = /^process_cpu_seconds_total(?:\{[^}]*\})? (\S+)/m;
const MEMORY = /^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)/m;
const MAX_BYTES = 8 << 20;

/** @returns a string that says why, if the figures are not available */
export async function readUsage(url: URL, headers: Readonly<Record<string, string>>, timeoutMs: number) {
  try {
    const response = await fetch(new URL("metrics", url), {headers, signal: AbortSignal.timeout(timeoutMs)});
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, {stream: true});
      if (text.length > MAX_BYTES) return `/metrics has more than ${MAX_BYTES} bytes`;
    }
    if (response.status !== 200) return `/metrics answered HTTP ${response.status}`;
    const [cpuSeconds, memoryBytes] = [CPU, MEMORY].map(line => Number(line.exec(text)?.[1]));
    if (!Number.isFinite(cpuSeconds) || !Number.isFinite(memoryBytes))
      return "/metrics has no process_cpu_seconds_total and process_resident_memory_bytes";
    return {atMs: performance.now(), cpuSeconds: cpuSeconds as number, memoryBytes: memoryBytes as number};
  } catch (error) {
    return `/metrics: ${(error as Error).message}`;
  }
}

type UsageReading = Awaited<ReturnType<typeof readUsage>>;

/** @returns CPU time of the server's process per second of measured time, and its memory at the end; or why not */
export function usageBetween(start: UsageReading, end: UsageReading) {
  if (typeof start === "string") return start;
  if (typeof end === "string") return end;
  const cpuCores = (1000 * (end.cpuSeconds - start.cpuSeconds)) / (end.atMs - start.atMs);
  if (!(cpuCores >= 0)) return "the server was restarted";
  return {cpuCores: Math.round(100 * cpuCores) / 100, memoryBytes: end.memoryBytes};
}
