// The search of the site, with the index as a script of the page: works from files too.
"use strict";
(() => {
  const index = lunr(function () {
    this.ref("location");
    this.field("title", {boost: 10});
    this.field("text");
    tesseraIndex.docs.forEach(page => this.add(page));
  });
  const pages = Object.fromEntries(tesseraIndex.docs.map(page => [page.location, page]));

  function show(query) {
    const results = document.getElementById("mkdocs-search-results");
    if (!results) return;
    results.textContent = "";
    if (query.length < 2) return;
    const words = query.toLowerCase().match(/[\w.]+/g) || [];
    const found = index.query(q => words.forEach(word => {
      q.term(word, {boost: 10});
      q.term(word, {wildcard: lunr.Query.wildcard.TRAILING});
    })).slice(0, 30);
    for (const {ref} of found) {
      const article = document.createElement("article");
      const link = document.createElement("a");
      link.href = `${base_url}/${ref}`;
      link.textContent = pages[ref].title;
      const title = document.createElement("h3");
      title.append(link);
      const text = document.createElement("p");
      text.textContent = `${pages[ref].text.slice(0, 220)} ...`;
      article.append(title, text);
      results.append(article);
    }
    if (found.length === 0) results.textContent = "Nothing found.";
  }

  const input = document.getElementById("mkdocs-search-query");
  const asked = new URLSearchParams(location.search).get("q");
  if (input) input.addEventListener("input", () => show(input.value));
  if (input && asked) input.value = asked;
  if (asked) show(asked);
})();
