// What the page can do beyond being read: tables that sort, filter and save themselves, and charts.
'use strict';

function numberOf(text) {
  return text === '' ? null : Number(text);
}

// Empty cells come last, whichever way the others go.
function compare(a, b, isNumber, sign) {
  if (a === '' || b === '') return (a === '') - (b === '');
  return sign * (isNumber ? Number(a) - Number(b) : a.localeCompare(b));
}

function cellsOf(row) {
  return [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent);
}

function makeSortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', sign === 1 ? 'ascending' : 'descending');
      const isNumber = !head.classList.contains('word');
      const rows = [...body.rows].map((row) => [cellsOf(row)[column], row]);
      rows.sort((a, b) => compare(a[0], b[0], isNumber, sign));
      body.append(...rows.map((pair) => pair[1]));
    });
  });
}

function csvField(text) {
  return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function tableText(table) {
  const lines = [[...table.tHead.rows[0].cells].map((cell) => cell.textContent)];
  for (const row of table.tBodies[0].rows) if (!row.hidden) lines.push(cellsOf(row));
  return lines.map((line) => line.map(csvField).join(',') + '\n').join('');
}

function addTools(table) {
  const tools = document.createElement('div');
  tools.className = 'tools';
  const label = document.createElement('label');
  const filter = document.createElement('input');
  const count = document.createElement('span');
  const save = document.createElement('button');
  filter.type = 'search';
  label.append('Lines with ', filter);
  count.setAttribute('role', 'status');
  save.textContent = 'Save these lines as CSV';
  tools.append(label, count, save);
  table.closest('.scroll').before(tools);
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = cellsOf(row).join(' ').toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = shown + ' of ' + table.tBodies[0].rows.length + ' lines';
  };
  filter.addEventListener('input', show);
  show();
  save.addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([tableText(table)], {type: 'text/csv'}));
    link.download = table.id + '.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

// The lines of the page's table, as the charts need them.
function linesOf(table) {
  const heads = [...table.tHead.rows[0].cells];
  const names = heads.map((cell) => cell.textContent);
  const numbers = heads.map((cell) => !cell.classList.contains('word'));
  return [...table.tBodies[0].rows].map((row) => Object.fromEntries(cellsOf(row).map(
    (text, i) => [names[i], numbers[i] ? numberOf(text) : text])));
}

const dark = {background: 'transparent', axis: {domainColor: '#888', gridColor: '#3b3d40',
  labelColor: '#ddd', tickColor: '#888', titleColor: '#ddd'}, legend: {labelColor: '#ddd',
  titleColor: '#ddd'}, header: {labelColor: '#ddd', titleColor: '#ddd'}, view: {stroke: '#3b3d40'}};

function drawCharts() {
  const read = {};  // each table once
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  for (const place of document.querySelectorAll('.chart')) {
    const spec = JSON.parse(place.querySelector('script').textContent);
    if (spec.data.name) {
      const lines = read[spec.data.name] ??= linesOf(document.getElementById(spec.data.name));
      const of = Object.entries(place.dataset);
      spec.data = {values: lines.filter(
        (line) => of.every(([name, value]) => line[name] === value))};
    }
    vegaEmbed(place, spec, {renderer: 'svg', actions: {export: true, source: false,
      compiled: false, editor: false}, config: isDark ? dark : {background: 'transparent'}});
  }
}

if (window.vegaEmbed) drawCharts();
for (const table of document.querySelectorAll('table.sortable')) {
  makeSortable(table);
  addTools(table);
}
