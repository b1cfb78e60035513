// Sends the requests of the forms on this page with the key that was pasted, which stays in its field.
"use strict";

const key = document.getElementById("key");
document.querySelectorAll("[hidden]").forEach((part) => { part.hidden = false; });

document.querySelectorAll("form.try").forEach((form) => form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const output = form.querySelector("output");
  const body = form.querySelector("textarea");
  const query = new URLSearchParams();
  let address = form.dataset.path;
  form.querySelectorAll("input").forEach((input) => {
    const place = `{${input.name}}`;
    if (address.includes(place)) address = address.replace(place, () => encodeURIComponent(input.value));
    else if (input.value) query.set(input.name, input.value);
  });
  const request = { method: form.dataset.method, headers: {}, cache: "no-store", credentials: "omit", redirect: "error" };
  if (key.value.trim()) request.headers.Authorization = `Bearer ${key.value.trim()}`;
  if (body) {
    request.headers["Content-Type"] = "application/json";
    request.body = body.value;
  }
  output.textContent = "…";
  try {
    const answer = await fetch(`${address}?${query}`, request);
    const text = await answer.text();
    const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
    output.textContent = `${answer.status}\n${isJson ? JSON.stringify(JSON.parse(text), null, 1) : text}`;
  } catch {
    output.textContent = "There was no answer.";
  }
}));
