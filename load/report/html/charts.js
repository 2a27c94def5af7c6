/** The report page's charts, drawn with uPlot from the report's own JSON. Runs in the reader's browser. */
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const HEIGHT = 280;
  const NARROW = 520;

  const color = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  function drawChart(id, x, series, options) {
    const place = document.getElementById(id);
    const width = place.clientWidth - 16;
    const font = "12px system-ui, sans-serif";
    const axis = {
      stroke: color("faint"),
      grid: {stroke: color("grid"), width: 1},
      ticks: {stroke: color("line"), width: 1},
      font,
    };
    const title = {labelSize: 24, labelGap: 2, labelFont: font};
    // What the legend shows while no pointer is on the chart.
    const resting = x.findLastIndex(value => value <= options.restingX);
    place.replaceChildren();
    return new uPlot(
      {
        width,
        height: width < NARROW ? HEIGHT * 0.8 : HEIGHT,
        scales: {
          x: {time: false, ...options.scaleX},
          y: {range: (_, low, high) => [Math.min(0, low), 1.05 * high || 1], ...options.scaleY},
        },
        axes: [
          {...axis, ...title, label: options.titleX, size: 36, ...options.axisX},
          {
            ...axis,
            ...title,
            label: options.titleY,
            size: 62,
            values: (_, values) => values.map(showValue),
          },
        ],
        series: [
          {label: options.label, value: (_, value) => options.showX(value ?? x[resting])},
          ...series.map(one => ({
            label: one.label,
            stroke: color(one.color),
            width: 2,
            dash: one.dash ?? [],
            points: {show: x.length < 3},
            value: (_, value, __, position) => showValue(position === null ? one.values[resting] : value),
          })),
        ],
      },
      [x, ...series.map(one => one.values)],
      place,
    );
  }

  function showValue(value) {
    return value === null || value === undefined ? "" : formatNumber(value);
  }

  function formatNumber(value) {
    return value.toLocaleString("en", {maximumSignificantDigits: 4}).replaceAll(",", "\u202f");
  }

  /** Place of a percentile on the x axis: 90 at 1, 99 at 2, 99.9 at 3. Of n values the highest stands where 1 in n would. */
  const placeOf = (percentile, count) => -Math.log10(Math.max(1 - percentile / 100, 1 / Math.max(count, 1)));
  const percentileAt = place => Number((100 * (1 - 10 ** -place)).toPrecision(6));

  /** What the latency of a run in this loop counts from. */
  const nameOf = loop => (loop === "open" ? "from due" : "service");

  function drawPercentiles() {
    const earlier = report.against;
    const kinds = [
      {of: report.latency, label: `${nameOf(report.loop)}, ms`, color: "first"},
      {of: report.service, label: "service, ms", color: "second"},
      {of: earlier?.latency, label: `${nameOf(earlier?.loop)}, earlier, ms`, color: "faint", dash: [6, 4]},
    ].filter(({of}) => of !== null && of !== undefined);
    if (kinds.length === 0) return;
    const points = kinds.map(({of}) =>
      of.distribution.map(([percentile, ms]) => [placeOf(percentile, of.count), ms]),
    );
    const [x, ...values] = uPlot.join(points.map(ofKind => transpose(ofKind)));
    const end = Math.max(1, x[x.length - 1]);
    const nines = Array.from({length: Math.floor(end)}, (_, i) => i + 1);
    const marks = [0, placeOf(50, Number.POSITIVE_INFINITY), ...nines];
    drawChart(
      "percentiles",
      x,
      kinds.map((kind, i) => ({...kind, values: fillGaps(x, values[i])})),
      {
        label: "percentile",
        restingX: placeOf(99, Number.POSITIVE_INFINITY),
        titleX: "percentile, %",
        titleY: "latency, ms",
        showX: place => `${percentileAt(place)} %`,
        scaleX: {range: [0, end]},
        axisX: {splits: () => marks, values: (_, places) => places.map(place => String(percentileAt(place)))},
      },
    );
  }

  /** [[x, y], ...] becomes [[x, ...], [y, ...]], with each x once. */
  function transpose(points) {
    const byX = new Map(points);
    return [[...byX.keys()], [...byX.values()]];
  }

  /** Distributions have different points, so each one's values between its own points are interpolated. */
  function fillGaps(x, values) {
    const known = x.map((_, i) => i).filter(i => values[i] !== null && values[i] !== undefined);
    return x.map((place, i) => {
      const right = known.find(k => k >= i);
      const left = known.findLast(k => k <= i);
      if (right === undefined || left === undefined) return null;
      if (right === left) return values[i];
      const share = (place - x[left]) / (x[right] - x[left]);
      return values[left] + share * (values[right] - values[left]);
    });
  }

  /** Without the last second if it is incomplete: it would look like a drop. */
  const rows = report.timeline.filter(row => row.second + 1 <= report.seconds);
  const seconds = rows.map(row => row.second + 1);
  const overTime = {
    label: "second",
    restingX: Number.POSITIVE_INFINITY,
    titleX: "time since the measuring began, s",
    showX: String,
    axisX: {incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400]},
  };

  function drawThroughput() {
    const series = [{label: "requests/s", color: "first", values: rows.map(row => row.answered)}];
    if (report.settings.batch > 1 || report.settings.slots > 0)
      series.push({label: "proofs/s", color: "third", values: rows.map(row => row.proofs)});
    series.push({
      label: "failed requests and calls/s",
      color: "bad",
      values: rows.map(row => row.failed + row.callErrors),
    });
    drawChart("throughput", seconds, series, {...overTime, titleY: "per second"});
  }

  function drawLatency() {
    drawChart(
      "latency",
      seconds,
      [
        {label: "p50, ms", color: "first", values: rows.map(row => row.p50Ms)},
        {label: "p99, ms", color: "second", values: rows.map(row => row.p99Ms)},
        {label: "max, ms", color: "third", values: rows.map(row => row.maxMs)},
      ],
      {...overTime, titleY: "latency, ms"},
    );
  }

  function drawAll() {
    drawPercentiles();
    if (rows.length === 0) return;
    drawThroughput();
    drawLatency();
  }

  drawAll();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    // When a phone shows or hides its address bar, only the height changes: then nothing is redrawn.
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    drawAll();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
