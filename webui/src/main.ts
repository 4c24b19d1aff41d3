import { mount, type Component } from "svelte";
import App from "./App.svelte";
import { currentLogin, followOtherTabs } from "./login/login";
import { applyTheme } from "./theme";
import "./style/base.css";

applyTheme();
addEventListener("storage", applyTheme);
// The fragment of the address holds the view, so the skip link must not change it.
document.querySelector(".skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("content")?.focus();
});

followOtherTabs();
if (location.pathname === "/" && currentLogin() !== null) show(App);
else void import("./login/Login.svelte").then(({ default: Login }) => show(Login));

function show(view: Component): void {
  mount(view, { target: document.getElementById("app")! });
}
