import { mount, type Component } from "svelte";
import App from "./App.svelte";
import { currentLogin, followOtherTabs } from "./login/login";
import "./style/base.css";

followOtherTabs();
if (location.pathname === "/" && currentLogin() !== null) show(App);
else void import("./login/Login.svelte").then(({ default: Login }) => show(Login));

function show(view: Component): void {
  mount(view, { target: document.getElementById("app")! });
}
