// Formulas come from Markdown as \(...\) in a line, \[...\] on lines of their own.
for (const place of document.querySelectorAll(".arithmatex")) {
  const source = place.textContent;
  katex.render(source.slice(2, -2), place, { displayMode: source.startsWith("\\["), throwOnError: false });
}
